"""The page on which models are added, chosen and removed."""
