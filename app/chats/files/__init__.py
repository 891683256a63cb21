"""Attached files, as the window shows them."""
