"""The settings: their fields, their file, and their form."""
