"""Attached files as they are shown."""
