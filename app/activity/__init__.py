"""The engines' activity: metrics, traces and measurements."""
