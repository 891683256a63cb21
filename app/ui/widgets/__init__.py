"""Small widgets that know nothing of chats."""
