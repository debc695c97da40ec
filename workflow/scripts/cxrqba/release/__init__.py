"""The release: JSON, metadata tables, exports and cards of a run, and a reader for them."""
