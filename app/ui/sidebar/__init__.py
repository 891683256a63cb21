"""The sidebar: the list of chats, and buttons to everything else."""
