"""Question-answer generation (paper Sec. 3.2, D.2, E.2)."""
