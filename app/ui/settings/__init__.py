"""The settings dialog, built from the settings model."""
