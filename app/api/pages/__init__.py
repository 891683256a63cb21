"""The widgets of the API server."""
