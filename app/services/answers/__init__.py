"""From a stored question to a stored answer."""
