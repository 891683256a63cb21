"""The presenters of a message's files and of recordings."""
