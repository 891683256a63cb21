"""The connections that left this computer or were refused, and the purposes that they can have."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

Purpose = Literal[
    "search for models",
    "look at a model",
    "read a model's header",
    "download a model",
    "refresh the catalogue",
    "test a token",
    "look at a server",
    "list a server's models",
    "ask a server",
    "get an engine",
    "send traces",
]
"""The reasons for which Hearth connects; every connection has one of them."""

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


@dataclass(frozen=True)
class Trust:
    """The certificates that a server's profile adds to those of the system, as PEM files.

    Attributes:
        ca: Certificate of the authority that signed the server's.
        certificate: Certificate, with its key, that is shown to the server.
    """

    ca: Path | None = None
    certificate: Path | None = None


@dataclass(frozen=True)
class LoggedConnection:
    """One request, as the ledger keeps it.

    Attributes:
        started: Start, in seconds since 1970.
        seconds: Duration.
        sent: Bytes of the request's body.
        received: Bytes of the response's body.
        result: An HTTP status such as "200", or a word for how it ended: "refused" if Hearth was
            offline, "failed" or "cancelled".
        proxy: Host and port of the proxy that it used, if any.
    """

    started: float
    seconds: float
    host: str
    port: int
    purpose: Purpose
    method: str
    sent: int
    received: int
    result: str
    proxy: str | None = None
