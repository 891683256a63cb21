"""What a Linux desktop offers over D-Bus and X11: notifications, motion, shortcuts."""
