"""What the engines do: metrics, traces, measurements."""
