"""The command line: its parser and its entry point."""
