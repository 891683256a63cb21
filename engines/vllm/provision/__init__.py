"""The environment that vLLM runs in: what it takes, how it is made, tried and put in use."""
