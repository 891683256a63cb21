"""Markdown as a text document that grows while an answer is written."""
