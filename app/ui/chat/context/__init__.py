"""What the model's context holds of a chat: the ring, the card, the marks."""
