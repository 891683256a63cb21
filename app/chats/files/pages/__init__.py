"""The widgets of attached files."""
