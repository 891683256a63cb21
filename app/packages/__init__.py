"""Python packages from the user's own indexes: finding and downloading them."""
