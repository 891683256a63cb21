"""The widgets of the chat lists."""
