"""The page that shows what the engines have done over the last minutes."""
