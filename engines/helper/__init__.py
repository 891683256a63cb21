"""A short-lived process that does for the app what could end a process."""
