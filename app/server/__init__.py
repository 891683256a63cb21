"""The HTTP API for other programs, over the services that window and terminal use."""
