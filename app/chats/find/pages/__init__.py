"""The widgets of the search within a chat."""
