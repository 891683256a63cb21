"""Every setting: its field, its file, and its form."""
