"""Attached files as chips, at a message that is being written and in one that was sent."""
