"""The window's start and end."""
