"""The search within one chat."""
