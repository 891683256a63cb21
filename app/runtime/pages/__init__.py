"""The widgets of the engines."""
