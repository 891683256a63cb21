"""The API server, which other programs use."""
