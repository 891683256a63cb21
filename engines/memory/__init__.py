"""The memory that loading a model takes, and the plan for the load."""
