"""The checked quotes of answers as they are shown."""
