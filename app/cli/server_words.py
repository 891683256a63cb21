"""The words of `hearth servers` on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path

SERVERS: dict[str, tuple[str, str | None]] = {
    "add": ("keep a server, or change the one with that name", "NAME"),
    "list": ("all servers, as they were found last", None),
    "test": ("ask a server what it is", "NAME"),
    "rm": ("forget a server and its key", "NAME"),
}


def add_servers(verbs: Mapping[str, argparse.ArgumentParser]) -> None:
    add = verbs["add"]
    add.add_argument("address", metavar="ADDRESS", help="such as http://192.168.1.20:8000")
    add.add_argument(
        "--ca",
        type=Path,
        metavar="FILE",
        help="the certificate of the server's own authority, as PEM; by default the system's",
    )
    add.add_argument(
        "--cert",
        type=Path,
        metavar="FILE",
        help="a certificate of yours with its key, as PEM; by default none",
    )
    key = add.add_mutually_exclusive_group()
    key.add_argument(
        "--key-stdin", action="store_true", help="read the server's key from standard input"
    )
    key.add_argument(
        "--keep-key",
        action="store_true",
        help="the kept key may go to the changed address; otherwise it is forgotten",
    )
