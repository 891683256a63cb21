"""The page that shows every connection that has left this computer."""
