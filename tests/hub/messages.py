"""A request to the loopback Hub, and its reply."""

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
    """A request, as it arrived.

    Attributes:
        path: The decoded path.
        headers: The headers, with lower-case names.
    """

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
        """The bearer token of the request."""
        kind, _, token = (self.authorization or "").partition(" ")
        return token if kind.lower() == "bearer" else None

    def asks(self, name: str) -> bool:
        """Return whether a parameter of the query is there and true."""
        return self.query.get(name, ["false"])[-1].lower() in {"true", "1", "full"}


@dataclass(frozen=True)
class Reply:
    """A reply, and how it is sent. A HEAD is answered without the body.

    Attributes:
        drop_after: The bytes of the body after which the connection ends; -1 ends it before any
            answer.
        reset: True to end it as if the other computer had crashed, instead of hanging up.
        stall_after: The bytes after which nothing more comes until the hub is released; -1 gives no
            answer at all until then.
        sized: True to send Content-Length; without it the connection's end is the body's.
        bytes_per_s: The rate of the body; None is at once.
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
        """Return the reply with more headers, whose names are written with underscores."""
        more = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **more})


def json_reply(data: Any, status: int = 200, **headers: str) -> Reply:
    body = Bytes(json.dumps(data).encode())
    return Reply(status, {"Content-Type": "application/json; charset=utf-8"}, body).plus(**headers)


def error_reply(status: int, code: str | None, message: str, **headers: str) -> Reply:
    """Return an error like the Hub's: code and sentence in headers, the sentence in the body."""
    if code:
        headers = {"X_Error_Code": code, **headers}
    return json_reply({"error": message}, status, X_Error_Message=message, **headers)


def ranged(request: Request, whole: Reply) -> Reply:
    """Return the part of a file that the request asks for (RFC 9110, section 14), or all of it.

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
