"""The settings of Hearth's server: its address, who can call it, and the rules for both. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal
from urllib.parse import urlsplit

from app.base.errors import NotSafe, SettingsInvalid
from app.net.values.hosts import is_loopback
from engines.sentences import N_

LOOPBACK: Final = "127.0.0.1"
EVERYWHERE: Final = "0.0.0.0"  # noqa: S104 - asked for twice before it is used
"""The address that stands for all networks of this computer."""

USUAL_PORT: Final = 8117

Reach = Literal["this_computer", "network", "network_unencrypted"]
"""Who can connect: programs on this computer, or also others, with TLS or with TLS refused."""


@dataclass(frozen=True)
class Address:
    """An address of this computer and a port; port 0 takes a free one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """True if only programs on this computer can reach it."""
        return is_loopback(self.host)

    def url(self, *, encrypted: bool = False) -> str:
        """Return the address as a client writes it, without a path.

        For an address that stands for all networks, this is the loopback address.
        """
        host = {"0.0.0.0": LOOPBACK, "::": "::1"}.get(self.host, self.host)  # noqa: S104
        host = f"[{host}]" if ":" in host else host
        return f"{'https' if encrypted else 'http'}://{host}:{self.port}"


@dataclass(frozen=True)
class ServeOptions:
    """The options of the server.

    Attributes:
        exposed: Whether the user agreed to listen on another interface than loopback.
        certificate: Certificate for TLS, as a PEM file.
        key: Key for TLS, as a PEM file.
        without_tls: Whether the user refused encryption explicitly.
        needs_token: False lets every program on this computer use the server.
        sites: Origins whose web pages may use the server.
        names: Further host names of this computer.
        window_open: Whether the window is open, whose own chats are answered first.
    """

    address: Address = Address(LOOPBACK, USUAL_PORT)
    exposed: bool = False
    certificate: Path | None = None
    key: Path | None = None
    without_tls: bool = False
    needs_token: bool = True
    sites: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    window_open: bool = True

    @property
    def encrypted(self) -> bool:
        """True if it has a certificate for TLS."""
        return self.certificate is not None

    def require_safe(self) -> None:
        """Refuse options that would let others in without a second confirmation. Raises NotSafe."""
        if (self.certificate is None) != (self.key is None):
            raise NotSafe(
                N_("The server was not started."),
                N_("For encryption it needs a certificate and its key."),
                N_("Choose both files, or none of them."),
                terminal=N_("Give both --tls-cert and --tls-key, or none of them."),
            )
        if self.address.is_loopback:
            return
        if not self.exposed:
            raise NotSafe(
                N_("The server was not started."),
                N_("At {host}, other computers could use your models.", host=self.address.host),
                N_("Choose the network under Engines, if that is what you want."),
                terminal=N_("Add --expose if that is what you want, or leave --host out."),
            )
        if not self.needs_token:
            raise NotSafe(
                N_("The server was not started."),
                N_("Other computers could use your models without a token."),
                N_("Let the server ask for a token."),
                terminal=N_("Leave --no-token out, or --expose."),
            )
        if not self.encrypted and not self.without_tls:
            raise NotSafe(
                N_("The server was not started."),
                N_(
                    "Without encryption, others on the network can read questions, answers and the "
                    "token."
                ),
                N_("Choose a certificate and its key, or choose the network without encryption."),
                terminal=N_(
                    "Give --tls-cert and --tls-key, or refuse encryption with --without-tls."
                ),
            )


@dataclass(frozen=True)
class ServerStatus:
    """The present state of the server.

    Attributes:
        url: Address at which it listens; "" if it does not.
        network_urls: Its addresses for other computers, if they can reach it.
        failure: Why it could not be started, if it should run.
    """

    url: str = ""
    network_urls: tuple[str, ...] = ()
    exposed: bool = False
    encrypted: bool = False
    failure: Exception | None = None

    @property
    def running(self) -> bool:
        """True if it listens."""
        return bool(self.url)


def parse_sites(text: str) -> tuple[str, ...]:
    """Parse the setting `server_sites`: one origin per line. Raises SettingsInvalid."""
    return tuple(_site(line) for line in map(str.strip, text.splitlines()) if line)


def parse_names(text: str) -> tuple[str, ...]:
    """Parse the setting `server_names`: one host name per line. Raises SettingsInvalid."""
    names = tuple(line.lower() for line in map(str.strip, text.splitlines()) if line)
    for name in names:
        if not name.isascii() or set(name) & set(" /:@?#[]"):
            raise SettingsInvalid(
                N_("“{name}” is not the name of a computer.", name=name),
                N_("A name has no spaces, no port and no http:// before it."),
                N_("Write one name per line, such as: box.local"),
            )
    return names


def parse_aliases(text: str) -> dict[str, str]:
    """Parse the setting `server_aliases`: one “alias = model” per line. Raises SettingsInvalid."""
    aliases: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        alias, equals, model = (part.strip() for part in line.partition("="))
        if not (alias and equals and model):
            raise SettingsInvalid(
                N_("“{line}” names no model.", line=line),
                N_("A line is a name, an equals sign and a model."),
                N_("Write it like: gpt-4o = starter"),
            )
        if alias in aliases:
            raise SettingsInvalid(
                N_("“{alias}” occurs twice.", alias=alias),
                N_("A name stands for one model."),
                N_("Remove one of the lines."),
            )
        aliases[alias] = model
    return aliases


def _site(text: str) -> str:
    """Normalise an origin: scheme, host and port, as browsers write it."""
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/"):
        raise SettingsInvalid(
            N_("“{text}” is not the address of a site.", text=text),
            N_("An address is http:// or https://, a host’s name and, if need be, a port."),
            N_("Write it like: https://chat.example"),
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}" + (f":{port}" if port not in (None, usual) else "")
