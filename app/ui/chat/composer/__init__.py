"""The composer: the field for the next message, with its switches."""
