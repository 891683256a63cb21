"""The window in which a file is looked at."""
