"""Assistants, presets and prompts."""
