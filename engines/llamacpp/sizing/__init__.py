"""The size of a plan's buffers by llama.cpp's own account, without allocating them."""
