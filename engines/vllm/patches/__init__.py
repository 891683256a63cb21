"""Fixes to vLLM's build for processors, put on the path of its Python."""
