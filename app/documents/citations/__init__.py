"""The check of quotes against the documents."""
