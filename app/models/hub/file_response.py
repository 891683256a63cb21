"""Requests the bytes of a file from a given position, and checks the response."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

from app.base.errors import AppError
from app.models.hub import source as words
from app.models.hub.checksum import is_checksum, plain
from app.models.hub.faults import Transient
from app.models.hub.part import PartFile
from app.models.hub.refusals import refusal
from app.models.hub.retry import is_transient, requested_wait_s
from app.models.hub.source import Source, origin
from engines.connection import Connection
from engines.sentences import N_

if TYPE_CHECKING:
    import httpx2

_MAX_HOPS = 8
_FEW = 3
"""The most attempts at a fault that seldom goes away by itself."""

_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18}|\*)")


def request_file(
    client: httpx2.Client,
    source: Source,
    part: PartFile,
    connect_s: float,
    stall_s: float,
    connection: Connection,
) -> httpx2.Response:
    """Return a response that holds bytes of the file.

    The body is not read yet, and the caller closes the response. Every attempt begins at the Hub,
    which replaces a signed address that has expired. The token goes to the Hub's own origin only.

    Args:
        connect_s: How long opening the connection can take, in seconds.
        stall_s: How long to wait for the next byte, in seconds.
        connection: Ends the request when it is hung up.

    Raises:
        Transient: The fault can go away.
        AppError: The fault is permanent.
        httpx2.HTTPError: The connection failed.
    """
    import httpx2

    timeout = httpx2.Timeout(stall_s, connect=connect_s, pool=None)
    url = httpx2.URL(source.url)
    for _ in range(_MAX_HOPS):
        request = client.build_request(
            "GET",
            url,
            headers=_headers(source, part, str(url)),
            timeout=timeout,
            extensions={**connection.extensions, "within_s": None},
        )
        response = client.send(request, stream=True, follow_redirects=False)
        try:
            at_home = origin(str(url)) == source.home
            _require_same_file(source, response, at_home)
            if not response.has_redirect_location:
                _require_bytes(source, response, url.host, at_home)
                return response
            url = url.join(response.headers["location"])
        except BaseException:
            response.close()
            raise
        response.close()
    raise Transient(
        words.unexpected_response(
            source, url.host, N_("One address leads to the next without an end.")
        ),
        tries=_FEW,
    )


def first_byte(source: Source, response: httpx2.Response, requested: int) -> int:
    """Return the position in the file at which the body of this response begins.

    Args:
        requested: The position that was requested.

    Raises:
        Transient: The body begins neither there nor at the first byte.
    """
    host = response.url.host
    if response.status_code == 416:
        why = N_("It says that the file ends before byte {requested}.", requested=requested)
        raise Transient(words.unexpected_response(source, host, why), tries=1, of_ranges=True)
    if response.status_code == 200:
        length = response.headers.get("content-length")
        if length is not None and length != str(source.size):
            raise Transient(words.changed(source), tries=_FEW)
        return 0
    content_range = _CONTENT_RANGE.fullmatch(response.headers.get("content-range", "").strip())
    if content_range is None:
        why = N_("It sends several pieces at once, or does not say which piece it sends.")
        raise Transient(words.unexpected_response(source, host, why), tries=_FEW, of_ranges=True)
    if content_range[3] not in ("*", str(source.size)):
        raise Transient(words.changed(source), tries=_FEW)
    if int(content_range[1]) != requested:
        why = N_(
            "It sends the bytes from {start} on; those from {requested} on were requested.",
            start=content_range[1],
            requested=requested,
        )
        raise Transient(words.unexpected_response(source, host, why), tries=_FEW, of_ranges=True)
    return requested


def validator(response: httpx2.Response) -> str | None:
    """Return the ETag for If-Range: a strong one (RFC 9110, 13.1.5) that can be sent back.

    Returns:
        None if the response has no such ETag.
    """
    etag: str = response.headers.get("etag", "")
    return etag if etag and not etag.startswith("W/") and etag.isascii() else None


def _headers(source: Source, part: PartFile, url: str) -> dict[str, str]:
    """Make the request's headers.

    They decline compression, because it would change the bytes that ranges count.
    """
    headers = {"Accept-Encoding": "identity"}
    scheme, host, port = origin(url)
    if source.token is not None and (scheme, host, port) == source.home:
        headers["Authorization"] = f"Bearer {source.token}"
    if part.size:
        headers["Range"] = f"bytes={part.size}-"
        if part.etag and part.host == f"{host}:{port}":
            headers["If-Range"] = part.etag
    return headers


def _require_same_file(source: Source, response: httpx2.Response, at_home: bool) -> None:
    """Refuse a file other than the one wanted: the Hub names the content before it sends it."""
    if not at_home:
        return
    named = plain(response.headers.get("x-linked-etag"))
    size = response.headers.get("x-linked-size")
    if named is not None and is_checksum(named) and named != source.checksum:
        raise words.changed(source)
    if size is not None and size != str(source.size):
        raise words.changed(source)


def _require_bytes(source: Source, response: httpx2.Response, host: str, at_home: bool) -> None:
    """Raise an error unless the response holds bytes of the file or rejects the range."""
    status = response.status_code
    if status == 416 and "range" in response.request.headers:
        return
    if status in (200, 206):
        if response.headers.get("content-encoding", "identity") != "identity":
            why = N_("It compresses the file although it was asked not to.")
            raise Transient(words.unexpected_response(source, host, why), tries=_FEW)
        page = response.headers.get("content-type", "").lower().startswith("text/html")
        if page and not source.name.endswith((".html", ".htm")):
            raise Transient(words.web_page(source, host))
    elif is_transient(status):
        error = words.busy(source, host) if status == 429 else words.failed(source, host, status)
        raise Transient(error, requested_wait_s(response.headers, time.time()))
    elif not at_home:
        raise Transient(words.address_refused(source, host, status), tries=_FEW)
    elif status in (401, 403, 404, 410):
        raise _refused(source, response)
    else:
        raise Transient(words.failed(source, host, status), tries=_FEW)


def _refused(source: Source, response: httpx2.Response) -> AppError:
    """Make the error for a refusal by the Hub: no access, or no such file."""
    status, code = response.status_code, response.headers.get("x-error-code", "EntryNotFound")
    if not source.repo:
        return words.file_refused(source, response.url.host, status)
    if status in (404, 410) and code == "EntryNotFound":
        return words.missing(source)
    with_token = source.token is not None
    return refusal(status, response.headers, source.base, source.repo, with_token, time.time())
