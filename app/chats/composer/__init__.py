"""The composer: the field in which the user writes a message, with its files and options."""
