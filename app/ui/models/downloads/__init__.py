"""The downloads: those under way, those done, and their speed limits."""
