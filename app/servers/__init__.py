"""Other servers whose models can answer chats in Hearth."""
