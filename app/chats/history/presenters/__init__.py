"""The presenters, whose signals the window listens to."""
