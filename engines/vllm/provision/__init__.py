"""The environment that vLLM runs in: checked, made, tried and put in use."""
