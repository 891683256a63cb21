"""The downloads: what is on its way, what has come, and how fast it may."""
