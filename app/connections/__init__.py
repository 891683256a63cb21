"""The page of connections that left this computer or were blocked."""
