"""Stored chats: messages, branches, folders and drafts."""
