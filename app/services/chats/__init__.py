"""Chats as a whole: their search index and their trash."""
