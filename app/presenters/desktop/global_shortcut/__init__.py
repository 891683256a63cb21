"""Keys that reach Hearth from any other program, by what each system offers for that."""
