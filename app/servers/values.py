"""Other servers with models, as the user describes them: values and their rules."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from app.base.errors import AddressInvalid, ServerInvalid
from app.net.values.connections import Trust
from engines.openai.values import ServedModel, ServerInfo
from engines.sentences import N_

__all__ = [
    "ServedModel",
    "ServerInfo",
    "ServerProfile",
    "key_variable",
    "normalised_address",
    "origin_of",
    "short_name",
]

_ENDINGS = ("/v1/chat/completions", "/v1/models", "/v1")
_PORTS = {"http": 80, "https": 443}
_PATH = re.compile(r"^(?:[/~\\]|\.{1,2}[/\\]|[A-Za-z]:[/\\])|\.gguf$", re.IGNORECASE)


@dataclass(frozen=True)
class ServerProfile:
    """A server under the name that the user gave it. Its key is stored elsewhere, as a secret.

    Attributes:
        id: "" for a profile that has not been saved.
        address: The part of the URL before “/v1”.
        ca, certificate: As for `Trust`.
    """

    id: str
    name: str
    address: str
    ca: Path | None = None
    certificate: Path | None = None

    @property
    def host(self) -> str:
        """The host name or address, without scheme and port."""
        return urlsplit(self.address).hostname or self.address

    @property
    def trust(self) -> Trust:
        """The certificates for connections to this server."""
        return Trust(self.ca, self.certificate)

    @property
    def encrypted(self) -> bool:
        """True if connections to this server are encrypted."""
        return self.address.startswith("https:")

    @property
    def origin(self) -> str:
        """The only origin to which its key may be sent."""
        return origin_of(self.address)

    @property
    def secret(self) -> str:
        """The name of its key in the keyring, different for each origin, so only one gets it."""
        return f"server/{self.id} {self.origin}"


def normalised_address(text: str) -> str:
    """Return an address without “/v1” and what follows. Raises AddressInvalid."""
    address = text.strip()
    if "://" not in address:
        address = f"http://{address}"
    scheme, _, rest = address.rstrip("/").partition("://")
    address = f"{scheme.lower()}://{rest}"
    for ending in _ENDINGS:
        address = address.removesuffix(ending)
    try:
        parts = urlsplit(address)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or parts.query or parts.fragment or " " in address or not address.isprintable():
        raise AddressInvalid(
            N_("“{address}” is not the address of a server.", address=_printable(text)),
            N_("An address is http:// or https://, a host’s name and, if need be, a port."),
            N_("Write it like http://192.168.1.20:8000."),
        )
    if parts.username or parts.password:
        raise AddressInvalid(
            N_("The address contains a name or a password."),
            N_("Addresses are stored in a file and shown, so they must not contain secrets."),
            N_("Write the address without it; the key is entered separately."),
        )
    return address


def origin_of(address: str) -> str:
    """Return scheme, host and port of a normalised address."""
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.hostname}:{parts.port or _PORTS.get(parts.scheme, 0)}"


def normalised_name(text: str) -> str:
    """Return a name with single spaces. Raises ServerInvalid."""
    name = " ".join(text.split())
    if not name.isprintable() or not re.search(r"\w", name) or ":" in name:
        raise ServerInvalid(
            N_("“{shown}” cannot be the name of a server.", shown=_printable(text)),
            N_(
                "A name needs a letter or a digit, and cannot have invisible characters or a "
                "colon, which separates it from a model."
            ),
            N_("Choose another name, such as “team”."),
        )
    return name


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in text.strip())


def short_name(model: str) -> str:
    """Return a model's name for lists; of llama-server's paths, return only the file's name."""
    if not _PATH.search(model):
        return model
    last = re.split(r"[/\\]", model.rstrip("/\\"))[-1]
    return re.sub(r"\.gguf$", "", last, flags=re.IGNORECASE) or model


def key_variable(name: str) -> str:
    """Return the environment variable that can hold the key of a server with this name."""
    return "HEARTH_KEY_" + re.sub(r"\W", "_", name).upper()
