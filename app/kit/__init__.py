"""What pages and commands share: components, their look, tasks, and the terminal's output."""
