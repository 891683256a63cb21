"""Markdown: parsing text into blocks, and writing them as HTML."""
