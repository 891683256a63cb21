"""The tray, the command palette, quick ask, shortcuts and drag and drop."""
