"""Judging of questions and answers and their ratings (paper Sec. 3.3, D.3, E.3)."""
