"""The presenters of assistants and prompts."""
