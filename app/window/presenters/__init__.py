"""The presenters of the window itself."""
