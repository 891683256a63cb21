"""Collections of files and folders, and searching them."""
