"""The models on this computer."""
