"""The chat page: transcript, composer, and what stands around them."""
