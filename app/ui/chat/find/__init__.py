"""Finding words in the messages of one chat."""
