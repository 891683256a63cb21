"""The welcome: what a chat without messages shows."""
