"""The page of one model on this computer."""
