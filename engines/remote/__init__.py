"""Models on servers that other people or programs run."""
