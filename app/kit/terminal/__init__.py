"""The terminal: arguments, output, and the standard streams."""
