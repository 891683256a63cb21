"""How an answer is requested and written."""
