"""The one gate through which Hearth connects to anything: it checks, notes and counts."""

from app.net.endpoint import endpoint
from app.net.explained import explained
from app.net.gate import Gate

__all__ = ["Gate", "endpoint", "explained"]
