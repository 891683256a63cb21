"""The only code that knows SQL and the files in the data folder."""
