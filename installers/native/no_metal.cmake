# Read by CMake on a Mac where the processor alone shall compute: llama-cpp-python forces Metal on,
# and a normal variable is stronger than the cache that it writes.
set(GGML_METAL OFF)
