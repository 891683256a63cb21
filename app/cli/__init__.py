"""The terminal face of Hearth: the same services as the window."""
