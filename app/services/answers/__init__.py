"""Answers: from a stored question to a stored answer."""
