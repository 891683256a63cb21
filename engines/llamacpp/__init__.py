"""llama.cpp in this process, driven through the low-level API of llama-cpp-python."""
