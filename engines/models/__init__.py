"""The description of a model, read from its files without loading it."""
