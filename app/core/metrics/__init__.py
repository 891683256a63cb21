"""Figures of requests to the engines, as values: never a text, never a name of a chat."""
