"""Scene graphs (paper Sec. D.1, E.1.3)."""
