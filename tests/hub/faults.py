"""What can go wrong on the way from a Hub, each as a value that changes a request's answer.

`hub.fault(Drop(after=1000, path="*.gguf", times=2))`: the faults that were told are tried in their
order, and a request meets the first one that fits it and is not used up.
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
    """Nothing wrong by itself. path: which addresses it meets, decoded, such as "*.gguf".

    method: "*" is any. times: how many requests it meets; None is all. skip: how many it leaves
    alone before.
    """

    path: str = "*"
    method: str = "GET"
    times: int | None = 1
    skip: int = 0

    where: ClassVar[Literal["hub", "cdn", "file"]] = "hub"
    """Which server it is of; "file" is whichever of the two sends the bytes that were asked for."""

    def meets(self, request: Request) -> bool:
        return self.method in {"*", request.method} and fnmatchcase(request.path, self.path)

    def asked(self, request: Request) -> Request:
        """The request as a faulty server takes it."""
        return request

    def reply(self, request: Request, reply: Reply) -> Reply:
        """What a faulty server makes of the right reply."""
        return reply


@dataclass(frozen=True, kw_only=True)
class FileFault(Fault):
    """Meets what sends the body itself, and so never what only redirects to it."""

    where: ClassVar[Literal["hub", "cdn", "file"]] = "file"


@dataclass(frozen=True, kw_only=True)
class Drop(FileFault):
    """The connection ends after some bytes of the body; -1 is before any answer at all.

    reset: as a crash does it, instead of hanging up.
    """

    after: int
    reset: bool = False

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, drop_after=self.after, reset=self.reset)


@dataclass(frozen=True, kw_only=True)
class Stall(FileFault):
    """After some bytes nothing more comes, and the connection stays, until `hub.release()`.

    after: -1 is before any answer.
    """

    after: int

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, stall_after=self.after)


@dataclass(frozen=True, kw_only=True)
class Unsized(FileFault):
    """No Content-Length: the end of the connection is the end of the body, also an early one.

    after: bytes of the body that come; None is all.
    """

    after: int | None = None

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, sized=False, drop_after=self.after)


@dataclass(frozen=True, kw_only=True)
class Trickle(FileFault):
    """The body comes slowly."""

    bytes_per_s: float

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, bytes_per_s=self.bytes_per_s)


@dataclass(frozen=True, kw_only=True)
class WrongBytes(FileFault):
    """One byte of the body is not the file's; its length is. at: which one."""

    at: int = 0

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Flipped(reply.body, self.at))


@dataclass(frozen=True, kw_only=True)
class ShortFile(FileFault):
    """The file's end is missing, and Content-Length says so, as if it were all there is."""

    missing: int

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Part(reply.body, 0, max(reply.body.size - self.missing, 0)))


@dataclass(frozen=True, kw_only=True)
class LongFile(FileFault):
    """More bytes come than the file has, and Content-Length agrees with them."""

    extra: int

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Joined((reply.body, Made(self.extra, seed=99))))


@dataclass(frozen=True, kw_only=True)
class NoRange(FileFault):
    """The server knows no ranges: the whole file comes with 200, whatever was asked for."""

    def asked(self, request: Request) -> Request:
        headers = {name: value for name, value in request.headers.items() if name != "range"}
        return replace(request, headers=headers)

    def reply(self, request: Request, reply: Reply) -> Reply:
        headers = {name: text for name, text in reply.headers.items() if name != "Accept-Ranges"}
        return replace(reply, headers=headers)


@dataclass(frozen=True, kw_only=True)
class RangeRefused(FileFault):
    """416, although the range is within the file."""

    def meets(self, request: Request) -> bool:
        return request.range is not None and super().meets(request)

    def reply(self, request: Request, reply: Reply) -> Reply:
        size = reply.headers.get("X-Linked-Size", "0")
        refused = error_reply(416, None, "Range Not Satisfiable")
        return refused.plus(Content_Range=f"bytes */{size}")


@dataclass(frozen=True, kw_only=True)
class WrongContentRange(FileFault):
    """206, but the bytes are not those that were asked for: they lie `off` bytes elsewhere.

    honest: Content-Range says so; otherwise it says what was asked for.
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
    """206 as multipart/byteranges, which a server may send of its own accord for any range."""

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
    """The file has another ETag than before, so that a started download is no longer its start."""

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
    """A header that says something odd. after: bytes of the body that come; None is all."""

    name: str
    text: str
    after: int | None = None

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(
            reply, headers={**reply.headers, self.name: self.text}, drop_after=self.after
        )


@dataclass(frozen=True, kw_only=True)
class Gzipped(FileFault):
    """The body is compressed although it was asked for as it is."""

    def reply(self, request: Request, reply: Reply) -> Reply:
        squeezed = Bytes(gzip.compress(reply.body.read(0, reply.body.size), mtime=0))
        return replace(reply, body=squeezed).plus(Content_Encoding="gzip")


@dataclass(frozen=True, kw_only=True)
class Changed(FileFault):
    """The repository gets a new commit while a file comes, and the connection ends.

    after: bytes of the body that come before. files: what is new, as for `TestHub.change`.
    """

    after: int
    files: Mapping[str, bytes | Content | None] = field(default_factory=dict)

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, drop_after=self.after)


@dataclass(frozen=True, kw_only=True)
class Status(Fault):
    """An error instead of an answer: 408, 429, 5xx, or any other.

    retry_after: seconds to wait, as a number, or as a date that long after `now` (seconds since
    1970) where that is given. ratelimit: the same seconds, as the Hub's own header for 429 says
    them. code, message: X-Error-Code and X-Error-Message.
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
    """An error of the server that the files come from."""

    where: ClassVar[Literal["hub", "cdn", "file"]] = "cdn"


@dataclass(frozen=True, kw_only=True)
class Redirect(Fault):
    """To another address. Without `to` it is the same one again: a loop, as it meets all requests.

    to: an absolute address, or a path of the same server.
    """

    to: str | None = None
    method: str = "*"
    times: int | None = None
    status: int = 302

    def reply(self, request: Request, reply: Reply) -> Reply:
        return Reply(self.status, {"Location": self.to or request.path})


@dataclass(frozen=True, kw_only=True)
class CaptivePortal(Fault):
    """A page of the network's owner with 200, whatever was asked for, as in a hotel."""

    method: str = "*"

    def reply(self, request: Request, reply: Reply) -> Reply:
        page = b"<!DOCTYPE html><html><title>Welcome</title><p>Accept our terms.</html>"
        return Reply(200, {"Content-Type": "text/html"}, Bytes(page))


@dataclass(frozen=True, kw_only=True)
class HalfJson(Fault):
    """The answer's JSON breaks off in the middle, and Content-Length agrees."""

    def reply(self, request: Request, reply: Reply) -> Reply:
        return replace(reply, body=Part(reply.body, 0, reply.body.size // 2))
