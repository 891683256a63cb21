"""The programs that can use this Hearth's server, and the records of their requests: values."""

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
    "/rerank",
    "/tokenize",
    "/detokenize",
)
"""The endpoints that are named in records. One that begins with another comes before it."""

OTHER_ENDPOINT: Final = "other"
"""The endpoint in records of any other request: its path is text of the client's choosing."""


OWNER_NAME: Final = "Hearth"
"""The client name in records of requests with the server's own token, or without need of a key."""

LONGEST_NAME: Final = 60
"""Maximum characters of a client's name."""


@dataclass(frozen=True)
class ApiClient:
    """A program that can use the server.

    Attributes:
        id: "" for the client with the server's own token.
        digest: The SHA-256 of its key, in hexadecimal digits.
        models: Ids of the models it can use; empty for all.
        per_minute: Maximum requests a minute; 0 for no limit.
        at_once: Maximum requests at once; 0 for no limit.
        created: Seconds since 1970.
    """

    id: str
    name: str
    digest: str
    models: tuple[str, ...] = ()
    per_minute: int = 0
    at_once: int = 0
    created: float = 0.0

    def may_use(self, model: str) -> bool:
        """Return whether the client can use the model with this id."""
        return not self.models or model in self.models


@dataclass(frozen=True)
class ApiUse:
    """The record of one request: its client, time and size, but nothing of its content.

    Attributes:
        started: Seconds since 1970.
        seconds: How long the request took.
        client: The client's name; "" for a request without a valid key.
        address: The address of the client's computer.
        port: The port of the server.
        model: The id of the model that answered; "" for none.
        received: Bytes of the request's body.
        sent: Bytes of the response's body.
        status: The HTTP status; 0 if the client disconnected before it was sent.
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


def short_name(name: str) -> str:
    """Shorten a client's name for a list: names stored by older versions had no limit."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"


def endpoint_of(path: str) -> str:
    """Return the endpoint of a path, so that nothing else of the path is recorded."""
    return next(
        (endpoint for endpoint in ENDPOINTS if path == endpoint or path.startswith(f"{endpoint}/")),
        OTHER_ENDPOINT,
    )
