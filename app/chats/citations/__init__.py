"""The checked quotes of answers, as the window shows them."""
