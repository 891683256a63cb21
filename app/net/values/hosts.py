"""The recognition of hosts that are this computer; it asks no name server. Pure."""

from __future__ import annotations

import ipaddress
from typing import Final

LOCALHOST: Final = "localhost"


def is_loopback(host: str) -> bool:
    """Return whether a host is this computer: 127.0.0.0/8, ::1 or localhost."""
    if host.lower() == LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
