"""Models: the catalogue, the Hub's, those on this computer. Pure."""
