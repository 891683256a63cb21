"""Drafting tokens ahead: what drafts, what it costs, how far to go, and what came of it."""
