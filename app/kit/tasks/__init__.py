"""Work off the window's thread, and its results back on it."""
