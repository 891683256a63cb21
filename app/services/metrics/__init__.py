"""Metrics: what the engines' requests took, counted and handed out."""
