"""The examples of the CommonMark specification, and the text that a reader sees in each.

Their licence (CC BY-SA) is not that of this project, so they are not part of it: they are read from
the source distribution of markdown-it-py, which is fetched once with pip.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from html.parser import HTMLParser
from importlib.metadata import version
from pathlib import Path

_MEMBER = "tests/test_cmark_spec/commonmark.json"
_MARKERS = "•◦▪"


@dataclass(frozen=True)
class Example:
    """An example of the specification.

    Attributes:
        number: Its number in the specification.
        section: The title of its section.
        markdown: The source.
        html: The expected result.
    """

    number: int
    section: str
    markdown: str
    html: str


def examples(folder: Path) -> list[Example]:
    """Return all examples; fetch them into a folder if they are not there.

    Raises:
        OSError: They cannot be fetched.
    """
    name = f"markdown_it_py-{version('markdown-it-py')}"
    archive = folder / f"{name}.tar.gz"
    if not archive.is_file():
        wanted = f"markdown-it-py=={version('markdown-it-py')}"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--no-binary", ":all:", "--dest", str(folder), wanted]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise OSError(done.stderr)
    with tarfile.open(archive) as tar:
        member = tar.extractfile(f"{name}/{_MEMBER}")
        assert member is not None
        return [
            Example(item["example"], item["section"], item["markdown"], item["html"])
            for item in json.load(member)
        ]


def seen(html: str) -> str:
    """Return the text of a page without white space, with the markers and labels Hearth adds."""
    page = _Page()
    page.feed(html)
    page.close()
    return squeezed("".join(page.text))


def squeezed(text: str) -> str:
    return "".join(text.split())


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self._lists: list[int | None] = []
        self._unmarked = False
        self._in_pre = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if tag == "ul":
            self._lists.append(None)
        elif tag == "ol":
            self._lists.append(int(found.get("start") or 1))
        elif tag == "li":
            self._mark()
        elif tag == "img":
            self.text.append(found.get("alt") or found.get("src") or "")
        elif tag == "pre":
            self._in_pre = True
        elif tag == "code" and self._in_pre:
            language = (found.get("class") or "").removeprefix("language-")
            self.text.append(language.lower() or "text")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"ul", "ol"}:
            self._lists.pop()
        elif tag == "pre":
            self._in_pre = False

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def _mark(self) -> None:
        number = self._lists[-1]
        if number is None:
            depth = sum(known is None for known in self._lists) - 1
            self.text.append(_MARKERS[min(depth, 2)])
        else:
            self.text.append(f"{number}.")
            self._lists[-1] = number + 1
