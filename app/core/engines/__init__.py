"""What is known of the engines on this computer. Pure."""
