"""One request to the Hub: a GET with a limited answer, and every failure as an error for the user.

Hearth does not use huggingface_hub's own list functions: on “too many requests” they sleep for as
long as the Hub says, which can be minutes inside one call, and without a connection for 23 seconds.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from app.models.hub.refusals import refusal, unreadable
from app.net import Gate, endpoint, explained
from app.net.values.connections import Purpose
from engines.redaction import redact

if TYPE_CHECKING:
    import httpx2

MOST: Final = 32 << 20
"""The longest answer, in bytes, that is held in memory.

File listings are the longest answers, at a few hundred kB.
"""

_PART_S: Final = 600.0
"""The timeout for part of a file: such a part has several MB, and connections can be slow."""

Part = tuple[int, int, int]
"""Part of a file: the first byte, the last byte, and the size of the whole file."""

_CONTENT_RANGE: Final = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})")


@dataclass(frozen=True)
class Asking:
    """A request to the Hub.

    Attributes:
        path: Quoted path after the endpoint.
        token: Token of the account; None requests without an account.
        repo: The repository that the request is about; empty if there is none.
        byte_range: The first and the last byte wanted.
        most: The longest answer allowed, in bytes; a longer one is refused.
    """

    purpose: Purpose
    path: str
    token: str | None = field(default=None, repr=False)
    params: Mapping[str, str | Sequence[str]] | None = None
    repo: str = ""
    byte_range: tuple[int, int] | None = None
    most: int = MOST


@dataclass(frozen=True)
class Answer:
    """A successful answer.

    Attributes:
        body: Empty if part of a file was requested and something else came.
        part: The part of the file that came; None if the answer is not a part.
        more: Address of the next page, if the answer has several pages (RFC 8288).
    """

    body: bytes
    part: Part | None = None
    more: str | None = None


def ask(gate: Gate, asking: Asking) -> Answer:
    """Send a request to the Hub and return its answer.

    Raises:
        RepositoryUnknown, GatedRepository, TokenRefused, HubBusy, HubUnreadable: The Hub refused,
            or its answer cannot be read.
        Offline, NoConnection and others: The gate or the network refused.
    """
    import httpx2

    base = endpoint()
    host = httpx2.URL(base).host
    headers = {"Authorization": f"Bearer {asking.token}"} if asking.token else {}
    if asking.byte_range:
        first, last = asking.byte_range
        headers |= {"Range": f"bytes={first}-{last}", "Accept-Encoding": "identity"}
    try:
        with (
            gate.for_purpose(asking.purpose),
            gate.client.stream(
                "GET",
                base + asking.path,
                params=asking.params,
                headers=headers,
                extensions={"within_s": _PART_S} if asking.byte_range else {},
            ) as response,
        ):
            if response.status_code not in (200, 206):
                raise refusal(
                    response.status_code,
                    response.headers,
                    base,
                    asking.repo,
                    bool(asking.token),
                    time.time(),
                )
            if response.headers.get("Content-Type", "").lower().startswith("text/html"):
                raise unreadable("It is a web page and not data.")
            part = _part(response)
            if asking.byte_range and part is None:
                return Answer(b"")
            more = response.links.get("next", {}).get("url")
            return Answer(_body(response, asking), part, more)
    except httpx2.HTTPError as error:
        raise explained(error, host) from error


def _body(response: httpx2.Response, asking: Asking) -> bytes:
    pieces: list[bytes] = []
    size = 0
    for piece in response.iter_bytes():
        pieces.append(piece)
        size += len(piece)
        if size > asking.most:
            raise unreadable(f"It is longer than {asking.most:,} bytes.")
    body = b"".join(pieces)
    if asking.byte_range:
        return body  # the content of a file stays as it is
    # latin-1 keeps every byte: secrets and the text that replaces them are ASCII.
    return redact(body.decode("latin-1")).encode("latin-1")


def _part(response: httpx2.Response) -> Part | None:
    """Parse a Content-Range such as “bytes 0-99/1000” (RFC 9110, 14.4).

    Returns:
        None if the answer is not part of a file.
    """
    said = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", ""))
    if response.status_code != 206 or said is None:
        return None
    return int(said[1]), int(said[2]), int(said[3])
