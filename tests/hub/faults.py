"""Faults on the way from a Hub, each as a value that changes a request's answer.

`hub.fault(Drop(after=1000, path="*.gguf", times=2))`: a request meets the first fault that fits it
and is not used up, in the order in which they were added.
"""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from fnmatch import fnmatchcase
from typing import ClassVar, Literal

from tests.hub.contents import Bytes, Content, Flipped, Joined, Made, Part
from tests.hub.messages import Reply, Request, error_reply


@dataclass(frozen=True, kw_only=True)
class Fault:
    """A fault that does nothing by itself.

    Attributes:
        path: The addresses that it meets, decoded, such as "*.gguf".
        method: The method that it meets; "*" is any.
        times: The number of requests that it meets; None is all.
        skip: The number of requests that it leaves alone first.
    """

    path: str = "*"
    method: str = "GET"
    times: int | None = 1
    skip: int = 0

    where: ClassVar[Literal["hub", "cdn", "file"]] = "hub"
    """The server that it belongs to; "file" is the one of both that sends the requested bytes."""

    def meets(self, request: Request) -> bool:
        return self.method in {"*", request.method} and fnmatchcase(request.path, self.path)

    def asked(self, request: Request) -> Request:
        """Return the request as a faulty server takes it."""
        return request

    def reply(self, request: Request, reply: Reply) -> Reply:
        """Return the reply that a faulty server makes of the right one."""
        return reply


@dataclass(frozen=True, kw_only=True)
class FileFault(Fault):
    """A fault of the server that sends the body itself, never of a mere redirect to it."""

    where: ClassVar[Literal["hub", "cdn", "file"]] = "file"


@dataclass(frozen=True, kw_only=True)
class Drop(FileFault):
    """A connection that ends after some bytes of the body.

    Attributes:
        after: The number of bytes; -1 is before any answer.
        reset: True to reset the connection like a crash, instead of hanging up.
    """

    after: int
    reset: bool = False

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, drop_after=self.after, reset=self.reset)


@dataclass(frozen=True, kw_only=True)
class Stall(FileFault):
    """A connection that stays open but sends nothing more until `hub.release()`.

    Attributes:
        after: The number of bytes that come; -1 is before any answer.
    """

    after: int

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, stall_after=self.after)


@dataclass(frozen=True, kw_only=True)
class Unsized(FileFault):
    """A body without Content-Length: the end of the connection ends it, even an early one.

    Attributes:
        after: The bytes of the body that come; None is all.
    """

    after: int | None = None

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, sized=False, drop_after=self.after)


@dataclass(frozen=True, kw_only=True)
class Trickle(FileFault):
    """A body that comes slowly."""

    bytes_per_s: float

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, bytes_per_s=self.bytes_per_s)


@dataclass(frozen=True, kw_only=True)
class WrongBytes(FileFault):
    """A body of the right length in which one byte is wrong.

    Attributes:
        at: The position of the byte.
    """

    at: int = 0

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Flipped(reply.body, self.at))


@dataclass(frozen=True, kw_only=True)
class ShortFile(FileFault):
    """A file without its end, and with the Content-Length of the rest."""

    missing: int

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Part(reply.body, 0, max(reply.body.size - self.missing, 0)))


@dataclass(frozen=True, kw_only=True)
class LongFile(FileFault):
    """A file with extra bytes, and with the Content-Length of all."""

    extra: int

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Joined((reply.body, Made(self.extra, seed=99))))


@dataclass(frozen=True, kw_only=True)
class NoRange(FileFault):
    """A server without ranges: the whole file comes with 200 for any request."""

    def asked(self, request: Request) -> Request:
        headers = {name: value for name, value in request.headers.items() if name != "range"}
        return replace(request, headers=headers)

    def reply(self, request: Request, reply: Reply) -> Reply:
        headers = {name: text for name, text in reply.headers.items() if name != "Accept-Ranges"}
        return replace(reply, headers=headers)


@dataclass(frozen=True, kw_only=True)
class RangeRefused(FileFault):
    """A 416 for a range that is within the file."""

    def meets(self, request: Request) -> bool:
        return request.range is not None and super().meets(request)

    def reply(self, request: Request, reply: Reply) -> Reply:
        size = reply.headers.get("X-Linked-Size", "0")
        refused = error_reply(416, None, "Range Not Satisfiable")
        return refused.plus(Content_Range=f"bytes */{size}")


@dataclass(frozen=True, kw_only=True)
class WrongContentRange(FileFault):
    """A 206 with other bytes than those requested, `off` bytes away.

    Attributes:
        off: The distance in bytes.
        honest: True if Content-Range states the real position; False if it states the requested
            one.
    """

    off: int
    honest: bool = True

    def meets(self, request: Request) -> bool:
        return request.range is not None and super().meets(request)

    def reply(self, request: Request, reply: Reply) -> Reply:
        if reply.status != 206 or not isinstance(reply.body, Part):
            return reply
        whole, start, size = reply.body.whole, reply.body.start + self.off, reply.body.size
        size = min(size, whole.size - start)
        said = f"bytes {start}-{start + size - 1}/{whole.size}"
        headers = {"Content-Range": said} if self.honest else {}
        return replace(reply, body=Part(whole, start, size), headers={**reply.headers, **headers})


@dataclass(frozen=True, kw_only=True)
class Multipart(FileFault):
    """A 206 as multipart/byteranges, which a server may send for any range."""

    def meets(self, request: Request) -> bool:
        return request.range is not None and super().meets(request)

    def reply(self, request: Request, reply: Reply) -> Reply:
        if reply.status != 206:
            return reply
        headers = dict(reply.headers)
        said = headers.pop("Content-Range")
        start = f"--part\r\nContent-Type: application/octet-stream\r\nContent-Range: {said}\r\n\r\n"
        around = (Bytes(start.encode()), reply.body, Bytes(b"\r\n--part--\r\n"))
        headers["Content-Type"] = "multipart/byteranges; boundary=part"
        return replace(reply, headers=headers, body=Joined(around))


@dataclass(frozen=True, kw_only=True)
class OtherEtag(FileFault):
    """Another ETag than before, so that a started download no longer belongs to the file."""

    etag: str = '"0000"'

    def reply(self, request: Request, reply: Reply) -> Reply:
        named = {name: self.etag for name in ("ETag", "X-Linked-Etag") if name in reply.headers}
        return replace(reply, headers={**reply.headers, **named})

    def asked(self, request: Request) -> Request:
        if "if-range" not in request.headers or request.headers["if-range"] == self.etag:
            return request
        return replace(request, headers={**request.headers, "if-range": '"another"'})


@dataclass(frozen=True, kw_only=True)
class Header(FileFault):
    """A header with an odd value.

    Attributes:
        after: The bytes of the body that come; None is all.
    """

    name: str
    text: str
    after: int | None = None

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(
            reply, headers={**reply.headers, self.name: self.text}, drop_after=self.after
        )


@dataclass(frozen=True, kw_only=True)
class Gzipped(FileFault):
    """A body that is compressed, although it was requested without compression."""

    def reply(self, request: Request, reply: Reply) -> Reply:
        squeezed = Bytes(gzip.compress(reply.body.read(0, reply.body.size), mtime=0))
        return replace(reply, body=squeezed).plus(Content_Encoding="gzip")


@dataclass(frozen=True, kw_only=True)
class Changed(FileFault):
    """A new commit in the repository during a download, and the end of the connection.

    Attributes:
        after: The bytes of the body that come before.
        files: The new files, as for `TestHub.change`.
    """

    after: int
    files: Mapping[str, bytes | Content | None] = field(default_factory=dict)

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, drop_after=self.after)


@dataclass(frozen=True, kw_only=True)
class Status(Fault):
    """An error instead of an answer: 408, 429, 5xx, or any other.

    Attributes:
        retry_after: The seconds to wait, as a number, or as a date if `now` is given.
        now: The time from which the date counts, in seconds since 1970.
        ratelimit: The same seconds, in the Hub's own header for 429.
        code: The value of X-Error-Code.
        message: The value of X-Error-Message.
    """

    status: int
    retry_after: int | None = None
    now: float | None = None
    ratelimit: int | None = None
    code: str | None = None
    message: str = "Something went wrong"

    def reply(self, request: Request, reply: Reply) -> Reply:
        refused = error_reply(self.status, self.code, self.message)
        if self.ratelimit is not None:
            refused = refused.plus(RateLimit=f'"api";r=0;t={self.ratelimit}')
        if self.retry_after is None:
            return refused
        if self.now is None:
            return refused.plus(Retry_After=str(self.retry_after))
        return refused.plus(Retry_After=formatdate(self.now + self.retry_after, usegmt=True))


@dataclass(frozen=True, kw_only=True)
class CdnStatus(Status):
    """An error of the server that sends the files."""

    where: ClassVar[Literal["hub", "cdn", "file"]] = "cdn"


@dataclass(frozen=True, kw_only=True)
class Redirect(Fault):
    """A redirect to another address.

    Attributes:
        to: An absolute address, or a path of the same server; None is the same address again, which
            makes a loop, as it meets all requests.
    """

    to: str | None = None
    method: str = "*"
    times: int | None = None
    status: int = 302

    def reply(self, request: Request, reply: Reply) -> Reply:
        return Reply(self.status, {"Location": self.to or request.path})


@dataclass(frozen=True, kw_only=True)
class CaptivePortal(Fault):
    """A page of the network's owner with 200 for any request, as in a hotel."""

    method: str = "*"

    def reply(self, request: Request, reply: Reply) -> Reply:
        page = b"<!DOCTYPE html><html><title>Welcome</title><p>Accept our terms.</html>"
        return Reply(200, {"Content-Type": "text/html"}, Bytes(page))


@dataclass(frozen=True, kw_only=True)
class HalfJson(Fault):
    """JSON that ends in the middle, with the Content-Length of the half."""

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Part(reply.body, 0, reply.body.size // 2))
