"""The models: those here, those on the Hub, and their downloads."""
