"""Collections of documents: their indexes, the search in them, and what makes vectors."""
