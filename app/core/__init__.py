"""Pure values and rules: no Qt, no disk, no engine."""
