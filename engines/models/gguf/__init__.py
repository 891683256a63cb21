"""The GGUF file format, read without llama.cpp; `header` is its public module."""
