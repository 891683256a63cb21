"""Short-lived processes that do work for the app that could crash it."""
