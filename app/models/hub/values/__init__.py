"""Values and rules."""
