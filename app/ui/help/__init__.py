"""The guides in the window."""
