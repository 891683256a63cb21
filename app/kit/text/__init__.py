"""Markdown as a text that is shown, whole or while it arrives."""
