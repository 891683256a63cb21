"""The window on a desktop: keys, palette, tray, notifications, menus, drops."""
