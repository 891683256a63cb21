"""The engines in use: installed, loaded, waited for and lent."""
