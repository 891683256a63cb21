"""Reads the files listed on a page of an index: PEP 691 (JSON) and PEP 503 (HTML); pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import unquote, urljoin, urlsplit

JSON = "application/vnd.pypi.simple.v1+json"
ACCEPT = f"{JSON}, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.1"
_MOST_LINKS = 100_000
_SHA256 = re.compile(r"sha256=([0-9a-fA-F]{64})")


@dataclass(frozen=True)
class Link:
    """A file at a URL.

    Attributes:
        sha256: The hash in hexadecimal digits; None if the page does not give it.
        size: Bytes; None if the page does not give it.
    """

    name: str
    address: str
    sha256: str | None = None
    size: int | None = None


def links_of(text: str, kind: str, address: str) -> list[Link]:
    """List the files on a page.

    Args:
        text: The page.
        kind: Its content type.
        address: Its URL, after redirects.

    Raises:
        ValueError: It is not a page of an index.
    """
    if "json" in kind:
        return _from_json(text, address)
    parser = _Anchors(address)
    parser.feed(text)
    return parser.links


def _from_json(text: str, address: str) -> list[Link]:
    links = []
    try:
        for file in json.loads(text)["files"]:
            size = file.get("size")
            links.append(
                Link(
                    str(file["filename"]),
                    urljoin(address, file["url"]),
                    _lower(file.get("hashes", {}).get("sha256")),
                    size if isinstance(size, int) else None,
                )
            )
            _require_few(links)
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not a list of files: {error}") from error
    return links


class _Anchors(HTMLParser):
    """Collects the links of an HTML page, resolved against its `<base>`."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._base = address
        self.links: list[Link] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        href = dict(attrs).get("href")
        if not href:
            return
        if tag == "base":
            self._base = urljoin(self._base, href)
        elif tag == "a":
            url = urljoin(self._base, href)
            address, _, fragment = url.partition("#")
            name = unquote(urlsplit(address).path).rsplit("/", 1)[-1]
            hashed = _SHA256.search(fragment)
            self.links.append(Link(name, address, hashed and hashed[1].lower()))
            _require_few(self.links)


def _require_few(links: list[Link]) -> None:
    if len(links) > _MOST_LINKS:
        raise ValueError("it names more files than any project has")


def _lower(value: object) -> str | None:
    return value.lower() if isinstance(value, str) else None
