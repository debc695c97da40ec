"""The three extraction passes: sentences, observations, indication (paper Sec. 3.1, E.1.2)."""
