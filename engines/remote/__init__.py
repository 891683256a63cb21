"""Models on servers that somebody else runs."""
