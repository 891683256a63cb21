"""Exporting chats as files, and importing those of other programs."""
