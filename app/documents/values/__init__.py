"""The values and rules of the documents."""
