"""The HTTP API: OpenAI's and Anthropic's protocols."""
