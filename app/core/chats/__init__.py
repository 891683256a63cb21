"""What a chat consists of, and the rules for it. Pure."""
