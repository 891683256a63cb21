"""The page of other servers whose models answer here."""
