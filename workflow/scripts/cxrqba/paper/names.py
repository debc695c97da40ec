"""How tables and figures call strategies, answer parts and grades, and in which order."""

from __future__ import annotations

from cxrqba.schema import RATINGS

STRATEGY_NAMES = {
    "indication": "indication",
    "abnormal": "study abnormality",
    "region_abnormal": "region abnormality",
    "finding": "finding",
}
ANSWER_TYPE_NAMES = {
    "main_answer": "main answer",
    "details": "details",
    "related_information": "related information",
}
NOT_RATED = "not rated"
GRADES = (*reversed(RATINGS), NOT_RATED)
"""Best to worst."""
GRADE_GROUPS = {
    "fine-tuning grade": ("A++", "A+", "A"),
    "pre-training grade": ("B",),
    "excluded": ("C", "D", NOT_RATED),
}
"""Paper Fig. 4a; fine-tuning grade pairs are pre-training grade too (Sec. 3.3)."""
