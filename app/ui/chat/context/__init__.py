"""The context of a chat: the meter, the card, the warning and the marks."""
