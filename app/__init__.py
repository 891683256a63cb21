"""Hearth: private AI chat on your own computer."""

__version__ = "0.1.0"
