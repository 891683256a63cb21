"""The models on this computer: the programs that keep them, and the files."""
