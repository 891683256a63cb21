"""Other servers whose models answer here."""
