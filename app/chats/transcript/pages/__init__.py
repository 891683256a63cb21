"""The widgets of the transcript."""
