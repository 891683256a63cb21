"""The gate, through which all of Hearth's connections go: it checks, records and counts them."""

from app.net.endpoint import endpoint
from app.net.explained import explained
from app.net.gate import Gate

__all__ = ["Gate", "endpoint", "explained"]
