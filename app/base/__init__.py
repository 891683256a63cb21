"""What every subject stands on: errors, the data folder, the database, secrets."""
