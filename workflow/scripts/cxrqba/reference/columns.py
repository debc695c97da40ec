"""The columns that the CSV files of ``resources/reference/`` must have, and their closed values."""

CATEGORIES = (
    "ANATOMICAL_FINDING",
    "DISEASE",
    "DEVICE",
    "TUBES_AND_LINES",
    "TECHNICAL_ASSESSMENT",
    "PROCEDURE",
    "GENERAL",
)
POLARITIES = ("abnormal", "device", "technical", "postsurgical", "normal")
FINDING_SIDES = ("sided", "bilateral_default", "midline", "none")
REGION_SIDES = ("left", "right", "bilateral", "midline", "unknown")
MODIFIERS = ("severity", "texture", "spread", "temporal")

FINDING_COLUMNS = (
    "id",
    "name",
    "categories",
    "subcategories",
    "parents",
    "polarity",
    "laterality",
    "default_regions",
    "modifiers",
    "indicative_of",
    "synonyms",
    "tier",
    "key_finding",
    "radiologist_checked",
)
REGION_COLUMNS = (
    "id",
    "name",
    "group",
    "laterality",
    "left_id",
    "right_id",
    "bilateral_id",
    "parents",
    "localized",
    "rule",
    "cxas_label",
    "imagenome_bbox",
    "fallbacks",
    "lateral_view",
    "key_region",
    "synonyms",
    "radiologist_checked",
)
LABEL_COLUMNS = ("dataset", "label", "exact_findings", "implied_by_findings", "relation")
