"""Evaluation against expert labels, boxes and known anatomy (paper Sec. 4, C)."""
