"""Anatomy in images: localisation, region boxes, phantoms."""
