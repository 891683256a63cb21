"""The tray, the command palette, quick ask, keys and dropped files."""
