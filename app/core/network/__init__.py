"""Connections, the servers behind them, and secrets. Pure."""
