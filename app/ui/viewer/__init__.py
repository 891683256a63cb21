"""Shows files: pages and pictures to pan and zoom, and texts with a place marked."""
