"""Measurements of speed on this computer."""
