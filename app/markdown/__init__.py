"""Markdown as plain values: parsing, splitting a growing text, colouring code; free of Qt."""
