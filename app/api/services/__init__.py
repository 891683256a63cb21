"""The use cases of the API server, without Qt."""
