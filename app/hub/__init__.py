"""Models on the Hub: what is there, what it says of itself, and how it comes here."""
