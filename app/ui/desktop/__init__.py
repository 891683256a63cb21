"""What makes the window at home on a desktop: keys, palette, tray, notifications, menus, drops."""
