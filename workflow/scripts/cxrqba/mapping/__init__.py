"""Entity mapping of free values to the reference definitions (paper Sec. E.1.3)."""
