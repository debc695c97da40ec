"""Readers of reports and image lists; sections and sentences of a report."""
