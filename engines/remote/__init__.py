"""A model on a server that somebody else looks after."""
