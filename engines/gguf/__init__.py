"""The GGUF file format, read without llama.cpp; `engines.gguf_header` is its public face."""
