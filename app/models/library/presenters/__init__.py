"""QObjects between the services and the window."""
