"""Asking language models: requests, backends, the store of what they answered (Sec. E.1.2, E.3)."""
