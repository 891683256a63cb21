"""Values that describe a server with OpenAI's protocol, and the drafts of one answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ServerKind = Literal["vllm", "llama-server", "lmstudio", "ollama", "sglang", "openai"]
"""The kind of server, as far as its endpoints reveal it; "openai" is any other."""


@dataclass(frozen=True)
class ServedModel:
    """A model that a server offers.

    Attributes:
        context: Context in tokens; None if unknown.
        parameters: Number of parameters; 0 if unknown.
        size_bytes: Size in bytes; 0 if unknown.
        sees: The model accepts pictures; None if unknown.
        hears: The model accepts sounds; None if unknown.
    """

    id: str
    context: int | None = None
    parameters: int = 0
    size_bytes: int = 0
    sees: bool | None = None
    hears: bool | None = None


@dataclass(frozen=True)
class ServerInfo:
    """A server's description of itself.

    Attributes:
        version: "" if unknown.
        mtp: The server drafts tokens ahead; None if unknown.
        tokenizes: The server can count the tokens of a prompt.
    """

    kind: ServerKind
    version: str
    models: tuple[ServedModel, ...]
    mtp: bool | None
    tokenizes: bool


@dataclass(frozen=True)
class Drafted:
    """A server's counts of drafted and of accepted tokens in one answer."""

    drafted: int
    accepted: int
