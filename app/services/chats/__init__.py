"""Services for all chats: their search index and their trash."""
