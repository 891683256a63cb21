"""The tables of the documents."""
