"""The settings of the API server for other programs: whether it runs, where, and for whom."""

from __future__ import annotations

from dataclasses import dataclass

from app.net.values.serving import USUAL_PORT, Reach
from app.settings.values.declared import setting


@dataclass(frozen=True, init=False, repr=False, eq=False)
class ServerSettings:
    """The server settings, a base class of `app.settings.values.fields.Settings`."""

    server: bool = setting(
        False,
        "Server",
        "Let other programs use your models",
        "For editors and agents that speak OpenAI’s or Anthropic’s protocol, while Hearth is open.",
        keywords="api openai anthropic serve local server endpoint",
        common=True,
    )
    server_port: int = setting(
        USUAL_PORT,
        "Server",
        "Port",
        "Programs find the server at this number.",
        keywords="api address listen",
        ge=1,
        le=65535,
    )
    server_aliases: str = setting(
        "",
        "Server",
        "Further names of models",
        "For programs that insist on a name. One per line: the name, an equals sign and the model.",
        keywords="alias gpt claude api",
        multiline=True,
    )
    server_idle: int = setting(
        30,
        "Server",
        "Unload models of programs",
        "After this time without a request, if only programs have used the model.",
        keywords="idle unload memory api",
        unit="min",
        lowest_label="Never",
        ge=0,
        le=10000,
    )
    server_sites: str = setting(
        "",
        "Server",
        "Sites that may ask",
        "Web pages of these addresses may use the server from a browser. One per line, such as "
        "https://chat.example.",
        keywords="cors origin browser api",
        multiline=True,
    )
    server_names: str = setting(
        "",
        "Server",
        "Names of this computer",
        "Programs can call the server by these names, besides its addresses. One per line.",
        keywords="host hostname dns api",
        multiline=True,
    )
    server_expose: Reach = setting(  # noqa: RUF009 - a type of another module
        "this_computer",
        "Server",
        "Who can connect",
        "Programs on this computer, or others on the network: encrypted or not.",
        keywords="network lan expose share api",
        in_form=False,
    )
    server_certificate: str = setting(
        "",
        "Server",
        "Certificate",
        "For encrypted connections from the network: a file in PEM format.",
        keywords="tls ssl https encryption api",
    )
    server_key: str = setting(
        "",
        "Server",
        "Key of the certificate",
        "A file in PEM format, without a password.",
        keywords="tls ssl https encryption private api",
    )
