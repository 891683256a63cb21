"""Collections of files and folders, and the search in them."""
