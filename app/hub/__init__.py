"""The Hub: search, repositories, headers of its files, and downloads."""
