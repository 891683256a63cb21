"""The prompt library: its page, and its prompts in a message."""
