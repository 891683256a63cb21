"""Measuring speed on this computer."""
