"""The window itself, and its place on the desktop."""
