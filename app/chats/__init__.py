"""Chats: their history, answers, and everything that shows them."""
