"""The four question strategies (paper Sec. E.2.2): from evidence to cases.

A strategy turns the evidence of a study into cases: one per value of the template's variable,
each with named subsets of observations, a state, and what fills the placeholders. The template
engine (``qa.engine``) does the rest.
"""
