"""The window of a chat of which nothing is kept."""
