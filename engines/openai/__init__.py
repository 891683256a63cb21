"""A model behind an HTTP server that speaks OpenAI's protocol: asked over a client that is lent."""
