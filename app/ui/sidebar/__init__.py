"""The sidebar: the list of chats and the ways to everything else."""
