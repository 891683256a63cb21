"""Values and rules of connections."""
