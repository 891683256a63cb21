"""The process that tries a model file before the app opens it, and its verdicts."""
