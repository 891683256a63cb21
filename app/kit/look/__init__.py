"""The look of the window: theme, fonts, icons, language, zoom."""
