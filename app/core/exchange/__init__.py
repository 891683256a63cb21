"""Chats of other programs, and of other Hearths: reading what they export. Pure."""
