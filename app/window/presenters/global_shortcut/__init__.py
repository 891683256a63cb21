"""A shortcut that works while another program has the focus."""
