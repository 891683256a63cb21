"""The saved KV states of chats: sequences that are not live, in memory and on disk."""
