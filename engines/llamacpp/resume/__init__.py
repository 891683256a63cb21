"""What makes a chat go on where it stopped: sequences that are not live, in memory and on disk."""
