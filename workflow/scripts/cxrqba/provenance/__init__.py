"""Where results come from: accounting, code and input hashes."""
