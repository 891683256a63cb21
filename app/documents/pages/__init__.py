"""Widgets and texts that several parts of the documents share."""
