# Read by CMake at every project() of the llama.cpp build: see installers/README.md.
#
# llama-cpp-python forces LLAMA_BUILD_COMMON into the cache. A normal variable is stronger, and
# leaves out a third of the build: chat parsers and an HTTP client that Hearth does not use.
set(LLAMA_BUILD_COMMON OFF)
