"""Chats as files: exporting them, and importing those of other programs."""
