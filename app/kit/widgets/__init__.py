"""The components of the window."""
