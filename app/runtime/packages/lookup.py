"""Finds a locked file in the user's indexes by its hash."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from app.base.errors import AppError, EngineFileMissing, HostFailed, NoConnection
from app.base.home import expand_home
from app.models.hub.retry import is_transient
from app.net import Gate, as_user_error
from app.runtime.packages.config import Indexes
from app.runtime.packages.links import ACCEPT, Link, links_of
from engines.cancel import CancelToken
from engines.connection import Connection
from engines.errors import Cancelled
from engines.redaction import remember_address
from engines.regular import read_regular_text
from engines.sentences import N_
from engines.vllm.provision.lock import LockedFile

if TYPE_CHECKING:
    import httpx2

_ATTEMPTS = 3
_MOST_PAGE = 16 << 20
"""Maximum bytes of an index's page; a project with thousands of files needs several MB."""


@dataclass(frozen=True)
class _Answer:
    """An index's response.

    Attributes:
        address: Its URL, after redirects.
    """

    status: int
    headers: Mapping[str, str]
    address: str
    text: str


class Lookup:
    """Finds locked files; asks each place once per project. Not thread-safe."""

    def __init__(self, gate: Gate, indexes: Indexes) -> None:
        self._gate = gate
        self._indexes = indexes
        for address in (*indexes.indexes, *indexes.links):
            remember_address(address)
        self._pages: dict[str, list[Link]] = {}

    def find(self, file: LockedFile, cancel: CancelToken) -> Link:
        """Find the link to a file, on this computer first. Raises Cancelled and AppError."""
        troubles: list[AppError] = []
        for place in self._places(file.project):
            try:
                links = self._links(place, cancel)
            except AppError as error:
                troubles.append(error)
                continue
            for link in links:
                if is_link_to(link, file):
                    return link
        if troubles:
            raise troubles[0]
        raise self._missing(file)

    def size(self, link: Link, cancel: CancelToken) -> int:
        """Ask for a file's size in bytes, if nothing else gives it. Raises Cancelled, AppError."""
        path = local(link.address)
        if path is not None:
            return path.stat().st_size
        length = self._request("HEAD", link.address, cancel).headers.get("content-length", "")
        if not length.isdigit():
            raise HostFailed(
                N_(
                    "{address} does not say how large {name} is.",
                    address=_host(link.address),
                    name=link.name,
                ),
                N_("Without that, Hearth cannot tell when it is complete."),
                N_("Try again later, or use another package index."),
            )
        return int(length)

    def _places(self, project: str) -> list[str]:
        """List the places to look, local first: folders, pages of links, the project's pages."""
        pages = [f"{index.rstrip('/')}/{project}/" for index in self._indexes.indexes]
        return sorted([*self._indexes.links, *pages], key=lambda place: local(place) is None)

    def _links(self, place: str, cancel: CancelToken) -> list[Link]:
        if place not in self._pages:
            path = local(place)
            self._pages[place] = _listed(path) if path is not None else self._page(place, cancel)
        return self._pages[place]

    def _page(self, address: str, cancel: CancelToken) -> list[Link]:
        response = self._request("GET", address, cancel)
        if response.status == 404:
            return []  # the index does not have this project
        kind = response.headers.get("content-type", "text/html")
        try:
            return links_of(response.text, kind, response.address)
        except ValueError as error:
            raise HostFailed(
                N_("{host} does not answer like a package index.", host=_host(address)),
                N_("Its page cannot be read: {error}.", error=error),
                N_("Check the addresses of package indexes in pip's or uv's configuration."),
            ) from error

    def _request(self, method: str, address: str, cancel: CancelToken) -> _Answer:
        """Request a whole response, retrying transient faults.

        Returns:
            A response with the status 200, or 404 for a GET.

        Raises:
            Cancelled: `cancel` was called.
            AppError: The host cannot be reached, or refuses.
        """
        for _ in range(_ATTEMPTS - 1):
            with suppress(NoConnection, _TransientFailure):
                return self._request_once(method, address, cancel)
        return self._request_once(method, address, cancel)

    def _request_once(self, method: str, address: str, cancel: CancelToken) -> _Answer:
        import httpx2

        headers = {"Accept": ACCEPT} if method == "GET" else {"Accept-Encoding": "identity"}
        host = _host(address)
        try:
            with (
                self._gate.for_purpose("get an engine"),
                Connection.ended_by(cancel) as connection,
                self._gate.client.stream(
                    method, address, headers=headers, extensions=connection.extensions
                ) as response,
            ):
                answer = _Answer(
                    response.status_code, response.headers, str(response.url), _text(response, host)
                )
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            if cancel.cancelled:
                raise Cancelled from error
            raise as_user_error(error, host) from error
        if answer.status == 200 or (answer.status == 404 and method == "GET"):
            return answer
        raise _refused(host, answer.status)

    def _missing(self, file: LockedFile) -> EngineFileMissing:
        places = [_host(place) for place in self._places(file.project)]
        where = ", ".join(dict.fromkeys(places)) or N_("nowhere, since no index is configured")
        return EngineFileMissing(
            N_("{name} was not found.", name=file.name),
            N_(
                "None of your package indexes has exactly this file. Hearth looked here: {where}.",
                where=where,
            ),
            N_(
                "Add an index that has it to pip's or uv's configuration, as extra-index-url or "
                "find-links, then try again."
            ),
        )


def is_link_to(link: Link, file: LockedFile) -> bool:
    """Return whether a link is to the file, by hash; without one, by name until it is checked."""
    if link.sha256 is not None:
        return link.sha256 == file.sha256
    return link.name == file.name


def local(address: str) -> Path | None:
    """Return the local path that an address stands for; None if it is a web address."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        path = unquote(parts.path)
        return Path(path.lstrip("/") if sys.platform == "win32" else path)
    return None if parts.scheme in {"http", "https"} else expand_home(address)


def _listed(place: Path) -> list[Link]:
    """List the files of a folder, or those that an HTML page links to."""
    page = place / "index.html" if place.is_dir() else place
    if page.is_file():
        text = read_regular_text(page, encoding="utf-8", errors="replace")
        return links_of(text, "text/html", page.absolute().as_uri())
    if not place.is_dir():
        return []
    return [Link(file.name, file.absolute().as_uri()) for file in sorted(place.iterdir())]


def _host(address: str) -> str:
    """Return only the host: a whole URL can contain a user name and a password."""
    return urlsplit(address).hostname or address


def _text(response: httpx2.Response, host: str) -> str:
    """Read a page. Raises HostFailed if it is longer than any index's page."""
    read = bytearray()
    for piece in response.iter_bytes():
        read += piece
        if len(read) > _MOST_PAGE:
            raise HostFailed(
                N_("{host} does not answer like a package index.", host=host),
                N_("Its page is longer than {size} MB.", size=_MOST_PAGE >> 20),
                N_("Check the addresses of package indexes in pip's or uv's configuration."),
            )
    return read.decode("utf-8", "replace")


class _TransientFailure(HostFailed):
    """A host's failure that can pass quickly, so the request is retried."""


def _refused(host: str, status: int) -> HostFailed:
    why = N_("It answers with the error {status}.", status=status)
    if status in (401, 403):
        return HostFailed(
            N_("The package index {host} refuses access.", host=host),
            why,
            N_("Check the name and password in its address, in pip's or uv's configuration."),
        )
    kind = _TransientFailure if is_transient(status) else HostFailed
    return kind(
        N_("The package index {host} does not answer as it should.", host=host),
        why,
        N_("Try again later, or check its address in pip's or uv's configuration."),
    )
