"""Pure values and rules: no Qt and no disk; of the engines only their values and rules."""
