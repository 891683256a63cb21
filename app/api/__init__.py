"""The server that other programs ask."""
