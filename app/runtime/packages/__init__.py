"""The client of package indexes, for the installation of vLLM."""
