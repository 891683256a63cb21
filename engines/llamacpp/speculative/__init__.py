"""Drafting tokens ahead: drafters, costs, depth and acceptance."""
