"""The QObjects that the window listens to: thin, on top of the services."""
