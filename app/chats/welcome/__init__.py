"""The welcome in a chat without messages."""
