"""The use cases of the collections, without Qt."""
