"""The use cases of the documents, without Qt."""
