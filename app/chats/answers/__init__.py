"""How an answer is asked for and written."""
