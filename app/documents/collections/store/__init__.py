"""The tables and indexes of the collections."""
