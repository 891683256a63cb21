"""The presenters, whose methods the window calls."""
