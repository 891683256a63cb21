"""The environment that vLLM runs in: its check, creation, test and activation."""
