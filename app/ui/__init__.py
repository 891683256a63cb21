"""The window: widgets only; what they show and do comes from the presenters."""
