"""The messages of a chat as they are shown."""
