"""Where the next message is written, with the switches that hold for it."""
