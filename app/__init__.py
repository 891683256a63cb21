"""Hearth: private AI chat on your own computer."""

__version__ = "0.1.0"
APP_ID = "io.github.hearth.Hearth"
"""The name that desktops know it by: of its entry in menus, and of its icon."""
