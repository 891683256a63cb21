"""The GGUF file format, read without llama.cpp; `engines.models.gguf.header` is its public face."""
