"""The memory that a load takes, and the plan for it."""
