"""Finding a model and getting it: recommendations, search, and the page of a repository."""
