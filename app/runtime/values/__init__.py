"""The values and rules of the engines."""
