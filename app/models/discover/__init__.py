"""Recommended models, and the search on the Hub."""
