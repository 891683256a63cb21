"""The page of documents: collections of files that chats and assistants can be asked about."""
