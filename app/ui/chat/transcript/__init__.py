"""The messages of a chat, and what can be done with them."""
