"""The guides, and what Hearth is made of."""
