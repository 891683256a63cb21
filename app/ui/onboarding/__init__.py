"""What a chat without messages shows."""
