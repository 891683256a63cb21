"""Files that answers are grounded in."""
