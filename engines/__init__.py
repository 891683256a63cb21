"""Language model engines: plain Python, usable without the app."""
