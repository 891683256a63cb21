"""The use cases of the engines, without Qt."""
