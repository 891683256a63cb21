"""A shortcut that reaches Hearth from any program, by what each system offers."""
