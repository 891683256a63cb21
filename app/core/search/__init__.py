"""Finding texts by words and by a few letters. Pure."""
