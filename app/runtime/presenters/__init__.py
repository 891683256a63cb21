"""The presenters of the engines, for the window."""
