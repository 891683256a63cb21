"""Widgets and words that several parts of the documents share."""
