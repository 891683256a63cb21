"""The window that shows a file."""
