"""A request that came to the loopback Hub, and the reply that it gets."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tests.hub.contents import Bytes, Content, Part

Place = Literal["hub", "cdn"]


@dataclass(frozen=True)
class Request:
    """One request, as it came. path: decoded. headers: their names are in small letters."""

    method: str
    path: str
    query: Mapping[str, list[str]] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    at: Place = "hub"

    @property
    def range(self) -> str | None:
        return self.headers.get("range")

    @property
    def authorization(self) -> str | None:
        return self.headers.get("authorization")

    @property
    def token(self) -> str | None:
        """The bearer token that came with it."""
        kind, _, token = (self.authorization or "").partition(" ")
        return token if kind.lower() == "bearer" else None

    def asks(self, name: str) -> bool:
        """Whether a parameter of the query is there and true."""
        return self.query.get(name, ["false"])[-1].lower() in {"true", "1", "full"}


@dataclass(frozen=True)
class Reply:
    """What is sent back, and how.

    drop_after: bytes of the body after which the connection ends; -1 ends it before any answer.
    reset: it ends as if the other computer had crashed, not as if it had hung up.
    stall_after: bytes after which nothing more comes until the hub is released; -1 gives no
    answer at all until then.
    sized: whether Content-Length is told; without it the connection's end is the body's.
    bytes_per_s: how fast the body comes; None is at once. A HEAD is answered without the body.
    """

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Content = Bytes()  # noqa: RUF009  a value that cannot change
    drop_after: int | None = None
    reset: bool = False
    stall_after: int | None = None
    sized: bool = True
    bytes_per_s: float | None = None

    def plus(self, **headers: str) -> Reply:
        """The same with more headers; their names are written with underscores."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})


def json_reply(data: Any, status: int = 200, **headers: str) -> Reply:
    body = Bytes(json.dumps(data).encode())
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, body).plus(**headers)


def error_reply(status: int, code: str | None, message: str, **headers: str) -> Reply:
    """An error as the Hub tells it: a code and a sentence in headers, the sentence in the body."""
    if code:
        headers = {"X_Error_Code": code, **headers}
    return json_reply({"error": message}, status, X_Error_Message=message, **headers)


def ranged(request: Request, whole: Reply) -> Reply:
    """The part of a file that the request asks for (RFC 9110, section 14), or all of it.

    If-Range with another ETag gives the whole file; so do several ranges at once.
    """
    found = re.fullmatch(r"bytes=(\d*)-(\d*)", (request.range or "").replace(" ", ""))
    size = whole.body.size
    condition = request.headers.get("if-range")
    if not found or not any(found.groups()) or condition not in {None, whole.headers["ETag"]}:
        return whole
    first, last = found.groups()
    start = int(first) if first else max(size - int(last), 0)
    end = min(int(last), size - 1) if first and last else size - 1
    if start > end:
        refused = error_reply(416, None, "The range is not within the file")
        return refused.plus(Content_Range=f"bytes */{size}", ETag=whole.headers["ETag"])
    part = Part(whole.body, start, end - start + 1)
    return replace(whole, status=206, body=part).plus(Content_Range=f"bytes {start}-{end}/{size}")
