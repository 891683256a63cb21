"""The lists of chats in the sidebar."""
