"""The field in which a message is written, and what goes with it."""
