"""The display of markdown, as a whole text or while it arrives."""
