"""The columns of every table the pipeline writes, in one place.

Explicit types keep empty lists from being inferred as null and make shards concatenate. The names
are those of the paper (Sec. D.1, D.2) and of the published release; boxes are (x1, y1, x2, y2) in
original image pixels, clipped to the image. One row per study, image, observation, question or
judgement; lists nest where the paper nests.
"""

from __future__ import annotations

import polars as pl

Type = pl.DataType | type[pl.DataType]

STR: Type = pl.String
INT: Type = pl.Int32
FLOAT: Type = pl.Float64
BOOL: Type = pl.Boolean
STRINGS: Type = pl.List(pl.String)
BOX: Type = pl.List(pl.Float64)
BOXES: Type = pl.List(BOX)

# --- vocabularies -------------------------------------------------------------------------------

SECTION_TYPES = (
    "INDICATION",
    "HISTORY",
    "TECHNIQUE",
    "COMPARISON",
    "FINDINGS",
    "IMPRESSION",
    "RECOMMENDATION",
    "EXAMINATION",
    "NOTIFICATION",
    "WET_READ",
    "ADDENDUM",
    "IGNORE",
)
REPORTED_SECTION_TYPES = ("FINDINGS", "IMPRESSION")
"""Section types whose sentences describe the study (paper Sec. D.1)."""

NO_SECTION = "FINAL_REPORT_NO_SECTION"
PRE_NO_SECTION = "PRE_FINAL_REPORT_NO_SECTION"
"""Sections of sentences that stand under no header, as the release writes them (paper Sec. D.1)."""

LATERALITIES = ("left", "right", "likely bilateral", "bilateral", "unknown")
CERTAINTIES = ("certain", "likely", "uncertain", "comparison_only", "recommendation")
POSITIVENESSES = ("pos", "neg", "comparison_only", "recommendation")
CHILD_TYPES = (
    "regional distinction",
    "related region",
    "associated with",
    "device part",
    "recommendation",
    "comparison only",
)
MODIFIER_TYPES = ("severity", "texture", "spread", "temporal")
STRATEGIES = ("indication", "abnormal", "region_abnormal", "finding")
ANSWER_TYPES = ("main_answer", "details", "related_information")
RATINGS = ("D", "C", "B", "A", "A+", "A++")
"""Overall ratings, worst to best (paper Sec. D.3); ``None`` is "not rated"."""

EXTRACTION_QUALITY = {
    "region_quality": {
        "NO_REGIONS": "B",
        "DEFAULT_REGIONS_ONLY": "B",
        "CONTAINS_DEFAULT_REGIONS": "A",
        "CONTAINS_NON_RESOLVED_REGIONS": "A",
        "RESOLVED_REGIONS_ONLY": "A++",
    },
    "entity_quality": {
        "NO_ENTITIES": "B",
        "CONTAINS_NON_RESOLVED_ENTITIES": "A",
        "RESOLVED_ENTITIES_ONLY": "A++",
    },
    "sentence_name_quality": {
        "CHANGE_IN_SENTENCE_OR_NAME": "B",
        "UNDERSCORES_IN_SENTENCE_OR_NAME": "A",
        "NO_ISSUES": "A++",
    },
    "change_quality": {
        "CHANGE_SENTENCE_REMOVED": "B",
        "UNDERSCORES_IN_CHANGE_SENTENCE": "A",
        "CONTAINS_NON_RESOLVED_CHANGES": "A",
        "NO_ISSUES": "A++",
    },
    "issue_level": {
        "DISCARDED": "D",
        "NON_INTERPRETABLE": "C",
        "MOSTLY_INTERPRETABLE": "B",
        "IGNORABLE": "A",
        "FIXABLE": "A+",
        "NO_ISSUES": "A++",
    },
    "localization_quality": {
        "NO_LOCALIZATION": "B",
        "FALLBACK_LOCALIZATION": "B",
        "INCOMPLETE_LOCALIZATION": "A",
        "BBOX_LOCALIZATION": "A++",
        "BBOX_AND_MASK_LOCALIZATION": "A++",
    },
}
"""Paper Tab. 11: aspect -> level (worst to best) -> best rating that level allows."""

TEXT_QUALITY = {
    "entailment": {
        "ALIGNED_MENTIONED": "A++",
        "ALIGNED_INFERABLE": "A++",
        "ALIGNED_NEGATIVE_NOT_MENTIONED": "A",
        "ALIGNED_GENERAL_STATEMENT": "A",
        "NON_ALIGNED_NON_INFERABLE": "B",
        "NON_ALIGNED_MISLEADING": "C",
        "NON_ALIGNED_CONTRADICTING": "D",
    },
    "relevance": {
        "RELEVANT_MAIN_ANSWER": "A++",
        "RELATED_INFO": "A++",
        "REDUNDANT_INFO": "A",
        "IRRELEVANT_INFO": "A",
    },
    "completeness": {
        "FULLY_COMPLETE": "A++",
        "DETAILS_MISSING": "A+",
        "NOT_ANSWERED": "B",
        "INCOMPLETE_NON_MISLEADING": "B",
        "INCOMPLETE_MISLEADING": "C",
    },
    "question_clarity": {
        "OPTIMAL": "A++",
        "UNUSUAL_SENTENCE_STRUCTURE": "A",
        "GRAMMATICAL_ERRORS": "A",
        "UNCLEAR_QUESTION": "B",
        "UNRELATED_TO_CHEST_XRAY": "B",
        "UNANSWERABLE": "C",
    },
    "answer_clarity": {
        "OPTIMAL": "A++",
        "UNUSUAL_SENTENCE_STRUCTURE": "A",
        "GRAMMATICAL_ERRORS": "A",
        "UNCLEAR_ANSWER": "B",
        "NOT_UNDERSTANDABLE": "C",
    },
}
"""Paper Tab. 12: judge criterion -> level -> best rating that level allows.

Relevance depends on the part's type as well: RELEVANT_MAIN_ANSWER allows only A for a part typed
related_information, RELATED_INFO only A+ for a part typed main_answer or details.
"""

PART_CRITERIA = ("entailment", "relevance", "answer_clarity")
"""Criteria judged once per answer part; completeness and question_clarity are once per question."""

# --- prepare_studies ----------------------------------------------------------------------------

STUDIES = pl.Schema(
    {
        "patient_id": STR,  # null where the source names no patients
        "study_id": STR,
        "split": STR,  # train, validate, test or null
        "study_date": STR,  # YYYYMMDD as in the source, or null
        "study_time": STR,  # HHMMSS, zero-padded, or null
        "procedure": STR,
        "report_path": STR,  # where in the source the text stands; null without report
        "report": STR,  # decoded text, exactly the file's characters; null without report
        "num_images": INT,
    }
)

IMAGES = pl.Schema(
    {
        "patient_id": STR,
        "study_id": STR,
        "image_id": STR,
        "path": STR,  # absolute, or relative to the folder Snakemake was started in
        "view_position": STR,  # as in the source
        "view": STR,  # frontal, lateral or unknown
        "height": INT,  # pixels from the source's table, null where it has none
        "width": INT,
    }
)

LEDGER = pl.Schema(
    {
        "stage": STR,  # the rule that writes the row
        "scope": STR,  # study: the study leaves the pipeline here; image, item: only this goes
        "study_id": STR,
        "item_id": STR,  # image id, sentence id, ... or null
        "reason": STR,  # short code: no_report, undecodable, duplicate_id, unreadable_image, ...
        "detail": STR,  # file, row or key and what to do; never report text
    }
)

# --- segment_anatomy ----------------------------------------------------------------------------

REGION_BOXES = pl.Schema(
    {
        "study_id": STR,
        "image_id": STR,
        "region": STR,  # region name of resources/reference/regions.csv
        "bboxes": BOXES,  # one box; two (left, right) for a bilateral pair; never empty
        "source": STR,  # mask, imagenome or composed
        "is_fallback": BOOL,
        "reference_region": STR,  # the region the boxes stem from (differs when is_fallback)
        "mask_ids": STRINGS,  # names of the masks behind the boxes, empty without masks
        "localization_quality": STR,  # level of EXTRACTION_QUALITY["localization_quality"]
    }
)

IMAGE_STATUS = pl.Schema(
    {
        "study_id": STR,
        "image_id": STR,
        "path": STR,
        "view": STR,
        "height": INT,  # measured on the image read, null if unreadable
        "width": INT,
        "status": STR,  # ok, no_localization, unreadable
        "num_regions": INT,
        "quality": FLOAT,  # 0..1, the localizer's own confidence
    }
)

MASKS = pl.Schema(
    {
        "study_id": STR,
        "image_id": STR,
        "mask_id": STR,  # name of the structure in CXAS; REGION_BOXES.mask_ids refers to it
        "height": INT,  # of the mask's frame, which covers the whole image at any scale
        "width": INT,
        "rle": pl.Binary(),  # COCO counts: {"size": [height, width], "counts": rle}
    }
)

PHANTOM_TRUTH = pl.Schema(
    {
        "image_id": STR,
        "structure": STR,  # region name of resources/reference/regions.csv
        "bboxes": BOXES,  # one box, in original image pixels
        "view": STR,  # frontal or lateral
    }
)

# --- extraction passes --------------------------------------------------------------------------

SPAN: Type = pl.Struct({"sent_id": STR, "start": INT, "end": INT})
"""[start, end) in characters of the study's ``report``."""

SENTENCES = pl.Schema(
    {
        "study_id": STR,
        "sent_id": STR,  # S01, S02, ... in text order over all sections
        "section": STR,  # as written in the report, upper case
        "section_type": STR,  # one of SECTION_TYPES
        "sentence": STR,  # exactly report[start:end]
        "start": INT,
        "end": INT,
        "cluster": INT,  # sentences with related content share it; null if not clustered
        "discarded": STR,  # reason (header_only, technique, ...) or null if kept
    }
)

RAW_REGION: Type = pl.Struct({"region": STR, "distances": STRINGS})
RAW_MODIFIER: Type = pl.Struct({"type": STR, "value": STR})

RAW_OBSERVATIONS = pl.Schema(
    {
        "study_id": STR,
        "raw_id": STR,  # R01, R01.01 for its children, ... unique in the study
        "parent_raw_id": STR,
        "child_type": STR,
        "name": STR,
        "summary_sentence": STR,
        "entities": STRINGS,  # free values as written (not yet mapped)
        "regions": pl.List(RAW_REGION),
        "probability": STR,  # free value: positive, likely, possible, negative, ...
        "modifiers": pl.List(RAW_MODIFIER),
        "laterality_text": STR,  # the clause in which a side may be sought
        "changes": STRINGS,
        "change_sentence": STR,
        "sent_ids": STRINGS,
        "spans": pl.List(SPAN),  # evidence of finding, cue, region
        "issue_level": STR,  # level of EXTRACTION_QUALITY["issue_level"]
        "origin": STR,  # rule or model call that made it
    }
)

INDICATIONS = pl.Schema(
    {
        "study_id": STR,
        "indication_summary": STR,  # phrased as a question or request: the text of A_indication
        "patient_info": STR,
        "indication": STR,
        "evaluation": STR,
        "sent_ids": STRINGS,  # the INDICATION/HISTORY sentences it stems from
        "associated_sentence_ids": STRINGS,  # FINDINGS/IMPRESSION sentences that answer it
        "answer_name": STR,
        "answer_sentence": STR,
        "origin": STR,
    }
)

PASS_STATUS = pl.Schema(
    {
        "study_id": STR,
        "step": STR,  # extract_sentences, extract_observations, extract_indication
        "status": STR,  # ok, empty, failed
        "num_items": INT,
        "detail": STR,
    }
)

MODEL_REQUESTS = pl.Schema(
    {
        "pass": STR,  # sentences, observations, indication
        "study_id": STR,
        "item": INT,  # cluster of sentences; 0 where a pass asks once a study
        "sent_ids": STRINGS,  # sentences that are shown
        "key": STR,  # sha256 of the request
        "request": STR,  # as JSON
    }
)
"""What a model is asked, in the order in which it is asked."""

RECEIPTS = pl.Schema(
    {
        "key": STR,
        "attempt": INT,
        "status": STR,  # see llm.messages.Status
        "digest": STR,  # sha256 of the raw text, which lies in the store of responses
        "finish_reason": STR,
        "prompt_tokens": INT,
        "cached_tokens": INT,
        "output_tokens": INT,
    }
)
"""What became of each request: the answer that counts."""

# --- mapping ------------------------------------------------------------------------------------

MENTIONS = pl.Schema({"kind": STR, "text": STR, "count": INT})
"""kind: entity, entity_region ("entity | region"), summary, name, region, modifier, change."""

MAPPINGS = pl.Schema(
    {
        "kind": STR,
        "text": STR,
        "count": INT,  # how often the text occurs in all shards
        "reference": STR,  # name in the reference tables; null if nothing is near enough
        "reference_type": STR,  # modifier type for modifiers, else null
        "score": FLOAT,
        "runner_up": STR,
        "runner_up_score": FLOAT,
        "method": STR,  # exact, lexical, sentence_transformers; cue_table: left to the cues;
        # outside: in a part of the body without a region
    }
)

# --- graph --------------------------------------------------------------------------------------

LOCALIZATION: Type = pl.Struct(
    {
        "image_id": STR,
        "bboxes": BOXES,
        "localization_reference_ids": STRINGS,
        "instance_mask_ids": STRINGS,
        "missing_localization": STRINGS,
        "is_fallback": BOOL,
        "localization_quality": STR,
    }
)
QUALITY: Type = pl.Struct(dict.fromkeys(EXTRACTION_QUALITY, STR))
MODIFIERS: Type = pl.Struct(dict.fromkeys(MODIFIER_TYPES, STRINGS))
DECISION: Type = pl.Struct(
    {"kind": STR, "text": STR, "reference": STR, "score": FLOAT, "runner_up": STR, "method": STR}
)

OBSERVATIONS = pl.Schema(
    {
        "study_id": STR,
        "obs_id": STR,  # O01, O01.02, D01 for added defaults, OIND for the indication's answer
        "name": STR,
        "summary_sentence": STR,
        "child_type": STR,
        "child_level": INT,
        "regions": pl.List(RAW_REGION),
        "non_resolved_regions": pl.List(RAW_REGION),
        "laterality": STR,
        "default_regions": STRINGS,
        "obs_entities": STRINGS,
        "obs_entities_parents": STRINGS,
        "non_resolved_obs_entities": STRINGS,
        "obs_categories": STRINGS,
        "obs_subcategories": STRINGS,
        "probability": STR,
        "certainty": STR,
        "positiveness": STR,
        "modifiers": MODIFIERS,
        "changes": STRINGS,
        "change_sentence": STR,
        "from_report": BOOL,
        "obs_quality": QUALITY,
        "localization": pl.List(LOCALIZATION),
        "sent_ids": STRINGS,
        "spans": pl.List(SPAN),
        "origin": STRINGS,  # rules or calls that made it, then repairs done to it
        "decisions": pl.List(DECISION),
    }
)

REGIONS = pl.Schema(
    {
        "study_id": STR,
        "region": STR,
        "laterality": STR,
        "localization": pl.List(LOCALIZATION),
        "region_localization_quality": STR,
    }
)

INDICATION: Type = pl.Struct(
    {
        "indication_summary": STR,
        "patient_info": STR,
        "indication": STR,
        "evaluation": STR,
        "associated_sentence_ids": STRINGS,
        "associated_obs_ids": STRINGS,
    }
)

GRAPHS = pl.Schema(
    {
        "patient_id": STR,
        "study_id": STR,
        "sentences": pl.List(
            pl.Struct({"sent_id": STR, "section": STR, "section_type": STR, "sentence": STR})
        ),
        "top_level_obs_ids": STRINGS,
        "indication": INDICATION,
        "located_at_relations": pl.List(
            pl.Struct(
                {
                    "region": STR,
                    "observation_id": STR,
                    "distances": STRINGS,
                    "where_specified": STR,  # direct, bilateral, sub_region
                }
            )
        ),
        "obs_relations": pl.List(
            pl.Struct(
                {
                    "parent_observation_id": STR,
                    "child_observation_id": STR,
                    "child_type": STR,
                }
            )
        ),
        "obs_sent_relations": pl.List(pl.Struct({"observation_id": STR, "sentence_id": STR})),
        "region_region_relations": pl.List(
            pl.Struct({"region": STR, "related_region": STR, "relation_type": STR})
        ),
        "study_quality": QUALITY,
        "study_img_localization_quality": pl.List(
            pl.Struct({"image_id": STR, "view": STR, "localization_quality": STR})
        ),
        "is_complete": BOOL,  # every reported sentence is accounted for: "no" may be said
        "incomplete_reasons": STRINGS,
    }
)

# --- qa -----------------------------------------------------------------------------------------

STATISTICS = pl.Schema(
    {
        "kind": STR,  # region, finding, or finding_pair ("a|b")
        "name": STR,
        "positive": INT,
        "negative": INT,
    }
)

QUESTIONS = pl.Schema(
    {
        "patient_id": STR,
        "study_id": STR,
        "question_id": STR,  # B09_describe_abnormal_subcat_006: unique within the study
        "question_type": STR,
        "question_strategy": STR,
        "variables": pl.List(pl.Struct({"name": STR, "value": STR})),
        "mentioned": BOOL,  # the region or finding asked for is mentioned in the report
        "statistics": STR,  # hash of the statistics that the sampling rests on
        "contains_report_answers": BOOL,
        "contains_template_answers": BOOL,
        "question": STR,
        "extraction_quality": QUALITY,  # worst of the answer parts
        "question_img_localization_quality": pl.List(
            pl.Struct({"image_id": STR, "view": STR, "localization_quality": STR})
        ),
    }
)

ANSWERS = pl.Schema(
    {
        "study_id": STR,
        "question_id": STR,
        "question_strategy": STR,  # of its question: figures scan parts alone
        "answer_id": STR,  # <question_id>.a01, contains the question id
        "parent_answer_id": STR,  # null for level 0
        "answer_type": STR,
        "answer_level": INT,
        "text": STR,
        "name_tag": STR,
        "laterality": STR,
        "regions": STRINGS,
        "obs_entities": STRINGS,
        "obs_entities_parents": STRINGS,
        "obs_categories": STRINGS,
        "obs_subcategories": STRINGS,
        "certainty": STR,
        "positiveness": STR,
        "modifiers": pl.List(RAW_MODIFIER),
        "from_report": BOOL,
        "extraction_quality": QUALITY,
        "obs_ids": STRINGS,  # the observations behind this part
        "box_obs_ids": STRINGS,  # observations whose boxes it shows (OBSERVATIONS.localization) ...
        "box_regions": STRINGS,  # ... or regions whose boxes it shows (REGIONS.localization)
        "template": STR,  # template sentence id, null for a part from an observation
    }
)
"""Answer parts, one a row: those of a question together and depth-first, questions in order."""

SKIPPED_QUESTIONS = pl.Schema({"study_id": STR, "question_type": STR, "reason": STR, "count": INT})

# --- judge --------------------------------------------------------------------------------------

JUDGEMENTS = pl.Schema(
    {
        "study_id": STR,
        "question_id": STR,
        "answer_id": STR,  # null for criteria judged once per question
        "criterion": STR,
        "level": STR,  # level of TEXT_QUALITY[criterion]; null if the judge failed
        "status": STR,  # ok or why there is no level
        "judge": STR,  # backend and version
    }
)

JUDGE_VIEWS = pl.Schema(
    {
        "key": STR,  # 32 hex digits over criterion and texts: equal views are asked once
        "criterion": STR,
        "question": STR,  # empty where the criterion does not see it
        "parts": STRINGS,
    }
)
"""Distinct views of the criteria that see no report, over all shards."""

HUMAN_RATINGS = pl.Schema(
    {
        "criterion": STR,
        "study_id": STR,
        "question_id": STR,
        "answer_id": STR,  # null for criteria judged once per question
        "level": STR,  # level of TEXT_QUALITY[criterion]
        "rater": STR,
        "comment": STR,
    }
)
"""What people said on a review sheet."""

RATED = pl.Schema(
    {
        "patient_id": STR,
        "study_id": STR,
        "question_id": STR,
        "question_type": STR,
        "question_strategy": STR,
        "rating": STR,  # one of RATINGS, over all images; null = not rated
        "limiting_aspect": STR,  # aspect=LEVEL that set the rating
        "frontal_rating": STR,  # the same with lateral images removed; null also without frontal
        "frontal_limiting_aspect": STR,
        "has_frontal": BOOL,
        "pre_training": BOOL,  # PT: frontal_rating B or better
        "fine_tuning": BOOL,  # FT: frontal_rating A or better
    }
)

RATED_ANSWERS = pl.Schema(
    {
        "study_id": STR,
        "question_id": STR,
        "answer_id": STR,
        "answer_type": STR,
        "rating": STR,
        "limiting_aspect": STR,
    }
)

# --- evaluate -----------------------------------------------------------------------------------

LABEL_SCORES = pl.Schema(
    {
        "dataset": STR,
        "reference": STR,  # gold set
        "system": STR,  # ours, keyword baseline, ...
        "class": STR,  # a class, or macro/micro over a named class set
        "class_set": STR,
        "metric": STR,  # mcc, precision, recall, f1
        "value": FLOAT,  # NaN where undefined
        "low": FLOAT,  # 95 % bootstrap interval
        "high": FLOAT,
        "support": INT,  # positives in the reference
        "predicted": INT,
        "studies": INT,
        "defined": INT,  # classes behind the value: those of a macro average that are defined
        "closure": STR,  # nearest (default), exact or closed over the hierarchy
        "protocol": STR,
    }
)

LABEL_VARIANTS = pl.Schema(
    {
        "dataset": STR,
        "reference": STR,
        "system": STR,
        "class": STR,  # as in LABEL_SCORES
        "class_set": STR,
        "metric": STR,
        "value": FLOAT,  # NaN where undefined
        "support": INT,
        "predicted": INT,
        "studies": INT,
        "defined": INT,
        "closure": STR,
        "certainty": STR,  # least certain observations that count: uncertain (default), likely, ...
        "uncertain_reference": STR,  # a reference -1: excluded (default) or positive
        "without_graph": STR,  # studies that failed: negative (default) or excluded
        "classes": STR,  # fixed list (default) or positive in every system
        "sections": STR,  # any section (default) or first to decide
    }
)

STUDY_LABELS = pl.Schema(
    {
        "reference": STR,
        "study_id": STR,
        "class": STR,
        "closure": STR,
        "gold": INT,  # 1 or 0; null: not scored
        "ours": BOOL,
        "baseline": BOOL,
        "has_graph": BOOL,  # false: counted as negative because the study has no observation
    }
)

BOX_SCORES = pl.Schema(
    {
        "dataset": STR,
        "reference": STR,  # expert set
        "format": STR,  # ms_cxr, reflacx
        "pooling": STR,  # readers of an image: reading (each), union, majority
        "system": STR,  # ours, lungs, whole image
        "class": STR,  # a class of the expert set, or micro: all pairs
        "metric": STR,  # iou, iop, iot, their share at 30 %, hits@30 of all targets; two counts
        "value": FLOAT,
        "low": FLOAT,  # 95 % bootstrap interval over patients
        "high": FLOAT,
        "pairs": INT,  # targets with a box of ours
        "targets": INT,
        "protocol": STR,
    }
)

BOX_PAIRS = pl.Schema(
    {
        "dataset": STR,
        "reference": STR,
        "pooling": STR,
        "system": STR,
        "image_id": STR,
        "reading": STR,  # null where readers are pooled
        "class": STR,
        "paired": BOOL,  # counts for conditional scores: it has a box (lungs, image: we have)
        "predicted": BOOL,  # this system has one
        "predicted_area": FLOAT,  # square pixels of the original image
        "target_area": FLOAT,
        "iou": FLOAT,  # 0 without a box, as the next two
        "iop": FLOAT,
        "iot": FLOAT,
    }
)
"""Every target with the boxes of every system."""

REGION_SCORES = pl.Schema(
    {
        "dataset": STR,
        "reference": STR,
        "system": STR,  # ours, median box, median box in our lungs (fitted on the other half)
        "structure": STR,  # region name of resources/reference/regions.csv
        "metric": STR,  # iou_mean, iou_p10 (not found counts as 0), refused (ours; share of images)
        "value": FLOAT,
        "low": FLOAT,  # 95 % bootstrap interval over images
        "high": FLOAT,
        "images": INT,  # images with a reference box
        "found": INT,  # of these, images in which the system gives a box
    }
)

REGION_OVERLAPS = pl.Schema(
    {
        "reference": STR,
        "image_id": STR,
        "structure": STR,  # as in REGION_SCORES
        "iou": FLOAT,  # not found counts as 0
        "true_box": pl.List(FLOAT),  # x1, y1, x2, y2 in original pixels
        "found_boxes": pl.List(pl.List(FLOAT)),  # empty where nothing was found
    }
)

EXTRACTION_CLAIMS = pl.Schema(
    {
        "study_id": STR,
        "sent_id": STR,
        "finding": STR,  # reference name
        "positiveness": STR,  # pos or neg
        "certainty": STR,
        "laterality": STR,
        "start": INT,  # [start, end) of the words that name it, in the report
        "end": INT,
    }
)
"""What a system other than ours says of a sentence."""

EXTRACTION_SCORES = pl.Schema(
    {
        "dataset": STR,
        "reference": STR,  # gold set
        "part": STR,  # dev or sealed: never pooled
        "system": STR,
        "aspect": STR,  # observations, negated, side, ...
        "metric": STR,  # precision, recall, f1; accuracy, wrong, unknown of matched pairs
        "value": FLOAT,  # NaN where undefined
        "low": FLOAT,  # 95 % bootstrap interval
        "high": FLOAT,
        "gold": INT,  # rows of the gold the aspect is about
        "predicted": INT,  # observations of the system
        "studies": INT,
        "patients": INT,  # units of the bootstrap
        "protocol": STR,
    }
)

EXTRACTION_STAGES = pl.Schema(
    {
        "reference": STR,
        "part": STR,
        "error": STR,  # missed or spurious
        "stage": STR,  # where it arose: section, mention, scope, mapping, graph, reference
        "count": INT,
    }
)

EXTRACTION_ERRORS = pl.Schema(
    {
        "reference": STR,
        "study_id": STR,
        "sent_id": STR,
        "error": STR,  # missed, spurious, or the aspect in which a matched pair differs
        "stage": STR,
        "gold": STR,  # finding, polarity, certainty, side of the gold row
        "ours": STR,
    }
)
"""Single errors, of the part "dev" alone."""

JUDGE_SCORES = pl.Schema(
    {
        "dataset": STR,
        "test": STR,  # planted (errors put into right answers) or natural (parts as they came)
        "source": STR,  # annotated set, "written by hand", or "all" of one part
        "part": STR,  # dev or sealed: never pooled; hand-written pairs count as dev
        "judge": STR,  # backend and version
        "criterion": STR,
        "kind": STR,  # kind of error; contradictions, any: several together
        "metric": STR,  # planted: accepted, charged, detected; natural: recall, precision, ...
        "value": FLOAT,  # NaN where undefined
        "low": FLOAT,  # 95 % interval: Wilson (planted), bootstrap over studies (natural)
        "high": FLOAT,
        "count": INT,  # answers behind the value
        "studies": INT,
    }
)

AGREEMENT = pl.Schema(
    {
        "criterion": STR,
        "judge": STR,  # backend and version
        "rater": STR,
        "metric": STR,  # agreement, kappa, weighted kappa, AC1, over A, under A, over B, under B
        "value": FLOAT,  # NaN where undefined
        "low": FLOAT,  # 95 % bootstrap interval over studies
        "high": FLOAT,
        "cases": INT,  # that both have a level for
        "studies": INT,
    }
)

CONFUSION = pl.Schema(
    {
        "judge_first": STR,
        "judge_second": STR,
        "first": STR,  # rating by the first judge; null: not rated
        "second": STR,
        "count": pl.Int64,  # QA pairs
    }
)

JUDGE_MISSES = pl.Schema(
    {
        "source": STR,
        "study_id": STR,
        "kind": STR,
        "criterion": STR,
        "fault": STR,  # alarm: the right answer was not accepted; miss: the error was not noticed
        "right_level": STR,
        "wrong_level": STR,
        "question": STR,
        "right": STR,
        "wrong": STR,
    }
)
"""Single planted pairs that a judge got wrong, of the part "dev" and those written by hand."""

LEAK_SCORES = pl.Schema(
    {
        "dataset": STR,
        "check": STR,  # patients, reports, answers, question_only, positive, tags
        "subject": STR,  # splits, strategy or tag the row is about
        "metric": STR,
        "value": FLOAT,  # NaN where undefined
        "count": INT,  # patients, reports, answers or parts behind the value
        "limit": STR,  # key of evaluate.leaks that the value must keep, or null
    }
)

LEAK_PAIRS = pl.Schema(
    {
        "check": STR,  # patients, reports, answers
        "split": STR,
        "item": STR,  # patient id; study id; study id and question id
        "other_split": STR,
        "other_item": STR,
        "similarity": FLOAT,  # Jaccard index of the triples of words; 1 for a patient
    }
)
"""What leaks from an earlier split into a later one: the nearest of each item, by ids alone."""

# --- labels for one's own use -------------------------------------------------------------------

LABELS = pl.Schema(
    {
        "patient_id": STR,
        "study_id": STR,
        "class": STR,
        "value": STR,  # positive, negative, uncertain, not mentioned
        "certainty": STR,  # certain, likely, uncertain; null where nothing decides
        "is_complete": BOOL,  # the whole report was understood
        "evidence": pl.List(
            pl.Struct(
                {
                    "says": STR,  # a value, one-sided denial, limited denial, comparison_only, ...
                    "finding": STR,  # reference name
                    "laterality": STR,
                    "obs_id": STR,
                    "sent_id": STR,
                    "start": INT,  # [start, end) in characters of the study's report
                    "end": INT,
                }
            )
        ),  # what decided first
    }
)

WORKLIST = pl.Schema(
    {
        "kind": STR,  # unknown header, uncovered sentence, unknown words, unmapped, ...
        "text": STR,  # as first written
        "studies": INT,  # how many studies it concerns
        "value_kind": STR,  # entity, region, modifier, change for mapped values, else null
        "reference": STR,  # the tag it was mapped to, if any
        "score": FLOAT,
        "runner_up": STR,
        "runner_up_score": FLOAT,
        "example_study": STR,
        "sent_id": STR,  # null for a header
        "start": INT,  # [start, end) in characters of the example's report
        "end": INT,
        "context": STR,  # the sentence of the example; null for a header
        "edit": STR,  # which table and column to edit
    }
)

# --- provenance ---------------------------------------------------------------------------------

ACCOUNTING = pl.Schema(
    {
        "stage": STR,  # the rule the row is about
        "what": STR,  # studies in, studies out, studies lost, images, questions, ...
        "reason": STR,  # ledger reason, status, rating, ... or null
        "count": pl.Int64,
    }
)
