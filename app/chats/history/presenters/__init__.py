"""What the window listens to."""
