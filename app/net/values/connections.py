"""Connections that left this computer or were kept from leaving it, and the purposes of all."""

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
"""Why Hearth connects at all: there is no connection without one of these."""

PURPOSES: tuple[Purpose, ...] = get_args(Purpose)


@dataclass(frozen=True)
class Trust:
    """The certificates that a server's profile adds to those of the system; files in PEM form.

    ca: of the authority that signed the server's. certificate: what is shown to the server, with
    its key.
    """

    ca: Path | None = None
    certificate: Path | None = None


@dataclass(frozen=True)
class LoggedConnection:
    """One request, as the ledger of connections keeps it.

    started: seconds since 1970. seconds: how long it took. sent, received: bytes of its bodies.
    result: an HTTP status such as "200", or a word for what ended it: "refused" if Hearth was
    offline, "failed", "cancelled". proxy: host and port of the proxy it went through, if any.
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
