"""The page of a chat."""
