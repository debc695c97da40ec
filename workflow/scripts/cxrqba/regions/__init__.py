"""Anatomy localised in images (paper Sec. E.1.1): structures found, regions composed of them."""
