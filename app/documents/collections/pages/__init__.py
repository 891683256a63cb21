"""The widgets of the collections."""
