"""The list of all models on this computer."""
