"""Assistants, the settings of a chat, and the scratch chat."""
