"""The basis of every subject: errors, the data folder, the database and secrets."""
