"""The programs that may ask this Hearth's server, and what is noted of their requests: values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ENDPOINTS: Final = (
    "/v1/models",
    "/v1/chat/completions",
    "/v1/completions",
    "/v1/responses",
    "/v1/embeddings",
    "/v1/messages/count_tokens",
    "/v1/messages",
    "/v1/rerank",
    "/tokenize",
    "/detokenize",
)
"""What of the API is noted when it is asked for. One that begins another stands after it."""

OTHER: Final = "other"
"""The endpoint of a request for anything else: its path is the client's own text."""


OWNER: Final = "Hearth"
"""The name, in the list of uses, of a program with the server's own token, or that needs none."""

LONGEST_NAME: Final = 60
"""Characters of a client's name."""


@dataclass(frozen=True)
class ApiClient:
    """A program that may ask. id: "" of whoever has the server's own token.

    digest: the SHA-256 of its key, in hexadecimal digits. models: the ids of those that it may
    use; empty for all. per_minute, at_once: how many requests it may make; 0 sets no limit.
    created: seconds since 1970.
    """

    id: str
    name: str
    digest: str
    models: tuple[str, ...] = ()
    per_minute: int = 0
    at_once: int = 0
    created: float = 0.0

    def may_use(self, model: str) -> bool:
        """Tell whether it may use the model with this id."""
        return not self.models or model in self.models


@dataclass(frozen=True)
class ApiUse:
    """One request of a client: who asked when and for how much, never what.

    started: seconds since 1970. seconds: how long it took. client: its name; "" for one without a
    key that is valid. address: of the computer that it came from; port: of the server. model: the
    id of the one that answered, "" for none. received, sent: bytes of the bodies. status: of HTTP,
    0 where the client had gone before.
    """

    started: float
    seconds: float
    client: str
    address: str
    port: int
    method: str
    endpoint: str
    model: str
    prompt_tokens: int
    completion_tokens: int
    received: int
    sent: int
    status: int


def shown_name(name: str) -> str:
    """Cut a client's name for a list: one that was kept before had no limit."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def endpoint_of(path: str) -> str:
    """Return the endpoint that a path belongs to, so that nothing else of it is kept."""
    return next((it for it in ENDPOINTS if path == it or path.startswith(f"{it}/")), OTHER)
