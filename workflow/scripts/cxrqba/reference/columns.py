"""Columns and keys of the files of ``resources/reference/``, and their closed values."""

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

PROBABILITY_KEYS = (
    *("levels", "cues", "scope_terminators", "exceptives", "scope_enders", "mimics", "gone_names"),
    *("doubted", "pseudo_negation", "non_assertions", "absences"),
)
NORMALITY_KEYS = ("predicates", "structures", "silence_denies")
STRUCTURE_KEYS = ("names", "region", "predicates", "negates")
LATERALITY_KEYS = ("keywords", "side_implying_regions", "fixed_names", "directed_findings")
KEYWORD_KEYS = ("left", "right", "bilateral", "likely_bilateral")
CHILD_PHRASE_KEYS = ("device part", "regional distinction", "related region")
SECTION_KEYS = (
    *("headers", "misspellings", "organs", "labels", "non_observational", "empty_words"),
)
HEADER_KEYS = ("type", "headers")
COMPOSITION_KEYS = ("finding", "structures", "attributes")
VALUE_KEYS = ("value", "synonyms")
EQUIVALENT_KEYS = ("findings", "regions", "open_all", "open_devices")
CUE_KEYS = ("cue", "level", "position")
