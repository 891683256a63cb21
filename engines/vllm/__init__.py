"""vLLM as a worker in a process of its own, and the environment that it runs in."""
