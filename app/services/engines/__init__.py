"""The engines in use: installed, queued for, loaded and lent."""
