"""The formula for llama.cpp's memory from a model's header: pure, and exact where possible."""
