"""The widgets of checked quotes."""
