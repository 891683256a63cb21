"""Services of a Linux desktop over D-Bus and X11: notifications, motion, shortcuts."""
