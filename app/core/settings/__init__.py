"""The settings, and the rules for which value applies where. Pure."""
