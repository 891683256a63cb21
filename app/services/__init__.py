"""Use cases: what window and terminal both do, on top of the stores and the engines."""
