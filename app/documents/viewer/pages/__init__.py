"""The widgets of the viewer."""
