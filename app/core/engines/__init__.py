"""The engines on this computer: names, advice, installation. Pure."""
