"""The window of a scratch chat, of which nothing is kept."""
