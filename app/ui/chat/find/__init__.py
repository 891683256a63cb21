"""The search for words in the messages of one chat."""
