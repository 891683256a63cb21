"""Python packages from the user's own indexes: where they are told of, found, and brought here."""
