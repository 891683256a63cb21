"""The widgets that the pages share."""
