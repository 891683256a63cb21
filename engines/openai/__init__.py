"""A model behind an HTTP server that speaks OpenAI's protocol."""
