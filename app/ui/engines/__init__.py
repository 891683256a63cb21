"""The page of the engines: which one suits this computer, and looking after them."""
