"""The files that answers are grounded in."""
