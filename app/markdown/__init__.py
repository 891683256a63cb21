"""Markdown: from text to blocks, and to HTML."""
