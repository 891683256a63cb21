"""What llama.cpp would allocate for a plan, from its own account, without allocating it."""
