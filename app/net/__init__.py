"""The gate, through which all of Hearth's connections go: it checks, records and counts them."""

from app.net.endpoint import endpoint
from app.net.gate import Gate
from app.net.user_errors import as_user_error

__all__ = ["Gate", "as_user_error", "endpoint"]
