"""The widgets of the welcome."""
