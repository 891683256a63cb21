"""Importing and exporting chats in the window."""
