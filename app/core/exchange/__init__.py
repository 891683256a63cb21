"""Importing chats of other programs and of Hearth itself, and exporting chats as text. Pure."""
