"""Values that describe a server with OpenAI's protocol, and one answer's drafts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ServerKind = Literal["vllm", "llama-server", "lmstudio", "ollama", "sglang", "openai"]
"""Whose server it is, as far as its endpoints tell; "openai" is any other."""


@dataclass(frozen=True)
class ServedModel:
    """A model that a server offers.

    context: in tokens, None where it does not tell. parameters, size_bytes: 0 where it does not.
    sees, hears: None where it does not tell.
    """

    id: str
    context: int | None = None
    parameters: int = 0
    size_bytes: int = 0
    sees: bool | None = None
    hears: bool | None = None


@dataclass(frozen=True)
class ServerInfo:
    """The description that a server gave of itself.

    version: "" where it does not tell. mtp: whether it drafts tokens ahead, None if that cannot
    be seen. tokenizes: it counts the tokens of a prompt.
    """

    kind: ServerKind
    version: str
    models: tuple[ServedModel, ...]
    mtp: bool | None
    tokenizes: bool


@dataclass(frozen=True)
class Drafted:
    """The figures of one answer's drafts, by a server. drafted, accepted: tokens."""

    drafted: int
    accepted: int
