"""The size of a plan's buffers as llama.cpp reports it, without allocating them."""
