"""The Hub's address: its own, or that of the mirror that the environment names."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from app.base.errors import AddressInvalid
from engines.sentences import N_

HUB = "https://huggingface.co"


def endpoint() -> str:
    """Return the Hub's address without a slash at its end, read anew at each call.

    huggingface_hub reads HF_ENDPOINT only once, on import; so pass this address to it.
    Raises AddressInvalid.
    """
    address = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/")
    if not address:
        return HUB
    if not is_http(address):
        raise AddressInvalid(
            N_("“{address}” is not the address of a Hub.", address=address),
            N_("HF_ENDPOINT in the environment has to begin with https:// and a host's name."),
            N_("Set HF_ENDPOINT to a complete address, or remove it to use huggingface.co."),
        )
    return address


def is_http(address: str) -> bool:
    """Return whether this is an http or https address with a host and no impossible port."""
    try:
        parts = urlsplit(address)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False
