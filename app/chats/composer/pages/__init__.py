"""The widgets of the composer."""
