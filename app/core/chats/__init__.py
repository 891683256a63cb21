"""The parts of a chat and the rules for them. Pure."""
