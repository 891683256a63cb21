"""The start and the end of the window."""
