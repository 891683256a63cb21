"""Work off the window's thread, with results delivered on it."""
