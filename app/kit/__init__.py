"""The parts that pages and commands share: widgets, their look, tasks, and terminal output."""
