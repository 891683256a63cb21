"""The share of a model's context that a chat takes."""
