"""A short-lived process that does for the app what could crash it."""
