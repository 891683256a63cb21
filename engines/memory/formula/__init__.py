"""The formula for llama.cpp's memory from a model's header, exact where possible. Pure."""
