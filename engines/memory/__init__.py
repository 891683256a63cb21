"""What a load takes of the memory, and the plan for it."""
