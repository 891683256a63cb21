"""Use cases, without Qt."""
