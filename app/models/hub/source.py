"""The source of a file, and the errors for a server's refusals."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

from app.base.errors import (
    AppError,
    FileChanged,
    FileNotOnHub,
    HostFailed,
    WrongBytes,
)
from engines.sentences import N_

Origin = tuple[str, str | None, int | None]
"""The scheme, host and port of an address."""


@dataclass(frozen=True)
class Source:
    """A file in a repository at one commit, or in a package index.

    Attributes:
        url: The address on the Hub or in the index.
        repo: The repository; empty for a package index.
        name: The file's name as the user sees it.
        size: Size in bytes.
        checksum: The expected checksum; see `checksum.hasher`.
        token: Sent to the Hub's own origin and nowhere else.
    """

    url: str
    repo: str
    name: str
    size: int
    checksum: str
    token: str | None = None

    @property
    def home(self) -> Origin:
        """The origin of the address; only this origin gets the token."""
        return origin(self.url)

    @property
    def base(self) -> str:
        """The Hub's address, without a slash at its end."""
        return self.url.partition(f"/{self.repo}/resolve/")[0]


def origin(url: str) -> Origin:
    """Return the scheme, host and port of an address.

    The port is None if it is invalid, so that such an address matches no other.
    """
    parts = urlsplit(url)
    try:
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        port = None
    return parts.scheme, parts.hostname, port


def missing(source: Source) -> AppError:
    """Make the error for a file that is no longer on the Hub."""
    return FileNotOnHub(
        N_("{name} is not on the Hub.", name=source.name),
        N_("The Hub has no such file in {repo} at this commit any more.", repo=source.repo),
        N_("Open the repository again and choose one of its current files."),
    )


def file_refused(source: Source, host: str, status: int) -> AppError:
    """Make the error for a package index whose host does not send the file."""
    return HostFailed(
        N_("{host} refuses to send {name}.", host=host, name=source.name),
        N_(
            "It answers with the error {status}, although the package index names the file.",
            status=status,
        ),
        N_("Check the name and password in the index's address, or try again later."),
    )


def changed(source: Source) -> AppError:
    """Make the error for a file whose content or size has changed at the source."""
    if not source.repo:
        return FileChanged(
            N_("{name} is not the file that Hearth was made for.", name=source.name),
            N_("The package index has other content, or another size, under this name."),
            N_("Try again later, or use another package index; old and new parts were not mixed."),
        )
    return FileChanged(
        N_("{name} is not the file that was chosen any more.", name=source.name),
        N_("The Hub now has other content, or another size, under the same name."),
        N_("Open the repository again and download it again; old and new parts were not mixed."),
    )


def failed(source: Source, host: str, status: int) -> AppError:
    """Make the error for a host that answers with an error status."""
    return HostFailed(
        N_("{host} does not send {name} at the moment.", host=host, name=source.name),
        N_("It answers with the error {status}.", status=status),
        N_("Wait a while, then resume the download; what was downloaded is kept."),
    )


def busy(source: Source, host: str) -> AppError:
    """Make the error for a host that has had too many requests."""
    return HostFailed(
        N_("{host} asks for a pause before it sends more of {name}.", host=host, name=source.name),
        N_("It has had too many requests from this address."),
        N_("Wait a while, then resume the download; a token of your own allows more.")
        if source.repo
        else N_("Wait a while, then try again; what was downloaded is kept."),
    )


def address_refused(source: Source, host: str, status: int) -> AppError:
    """Make the error for a redirect to a host that refuses to send the file."""
    return HostFailed(
        N_("{host} refuses to send {name}.", host=host, name=source.name),
        N_(
            "The Hub redirects there, but that server answers {status}, even to a fresh address.",
            status=status,
        )
        if source.repo
        else N_(
            "The package index redirects there, but that server answers {status}.", status=status
        ),
        N_("Check whether a firewall or proxy changes addresses, then resume the download."),
    )


def web_page(source: Source, host: str) -> AppError:
    """Make the error for a web page that came instead of the file."""
    return HostFailed(
        N_("A web page came instead of {name}.", name=source.name),
        N_(
            "Something between here and {host} answers in its place, as the log-in page of a "
            "hotel's or a company's network does.",
            host=host,
        ),
        N_("Open any page in a browser and log in there, then resume the download."),
    )


def ended_early(source: Source, host: str) -> AppError:
    """Make the error for a connection that ended before the file was complete."""
    return HostFailed(
        N_("The connection ended before {name} was complete.", name=source.name),
        N_("{host} closed it, or something on the way did.", host=host),
        N_("Check the connection, then resume the download; what was downloaded is kept."),
    )


def unexpected_response(source: Source, host: str, why: str) -> AppError:
    """Make the error for a response that does not fit the request.

    Args:
        why: One sentence.
    """
    return HostFailed(
        N_("{host} sends something other than what was requested.", host=host),
        why,
        N_(
            "Try again later, or without a proxy or mirror; what was downloaded of {name} is kept.",
            name=source.name,
        ),
    )


def wrong_bytes(source: Source) -> AppError:
    """Make the error for a file that arrived twice with the wrong checksum."""
    announced = (
        N_("Its checksum is not the one that the Hub announced.")
        if source.repo
        else N_("Its checksum is not the one that Hearth expects.")
    )
    return WrongBytes(
        N_("{name} arrived damaged twice and was not kept.", name=source.name),
        announced,
        N_("Try again later or on another network; a proxy, a mirror or the memory may be faulty."),
    )
