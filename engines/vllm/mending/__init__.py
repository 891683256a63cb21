"""On the path of the Python of vLLM’s build for processors: what is wrong in it is put right."""
