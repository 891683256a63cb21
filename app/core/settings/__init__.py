"""Every setting, and which value of it holds where. Pure."""
