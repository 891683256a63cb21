"""Reads the parts of a ZIP archive and the XML in them, which can come from a stranger."""

from __future__ import annotations

import contextlib
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Final, NoReturn
from urllib.parse import unquote
from xml.etree import ElementTree as ET

from app.documents.reading.faults import Fault, Unreadable

_PIECE: Final = 1 << 18
_RELATIONS: Final = "{http://schemas.openxmlformats.org/package/2006/relationships}"
_LOCKED: Final = 0x1
"""The flag bit of an encrypted entry."""


class XmlReader:
    """Receives the tags and the text of an XML file one after another; names have no namespace.

    A document type is refused: only there can entities be declared that expand without end. Office
    files have none (ECMA-376, part 2, 8.1.4).
    """

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Process the start of an element."""

    def closed(self, tag: str) -> None:
        """Process the end of an element."""

    def data(self, text: str) -> None:
        """Process text in an element."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Pass the start of an element on to `opened`.

        The parser calls this method, `end`, `doctype` and `close`.
        """
        bare = {name.rpartition("}")[2]: value for name, value in attributes.items()}
        self.opened(tag.rpartition("}")[2], bare)

    def end(self, tag: str) -> None:
        """Report the end of an element to `closed`, without its namespace."""
        self.closed(tag.rpartition("}")[2])

    def doctype(self, *_declared: object) -> NoReturn:
        """Refuse the file: documents have no document type declaration."""
        raise Unreadable(Fault.DAMAGED)

    def close(self) -> None:
        """Do nothing: there is no result to return to the parser."""


class _Tree(ET.TreeBuilder):
    """A tree builder that refuses document types."""

    def doctype(self, *_declared: object) -> NoReturn:
        """Refuse a document type, as `XmlReader` does."""
        raise Unreadable(Fault.DAMAGED)


class _RootReached(Exception):
    """The first element of an XML file was reached; entities can only be declared before it."""


class _Beginning(XmlReader):
    """A reader that stops at the first element."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002
        raise _RootReached


class Package:
    """A DOCX, XLSX, PPTX or EPUB. Raises Unreadable, also in its methods.

    `zipfile` unpacks no more of an entry than the archive declares, so the declared size is
    reliable.
    """

    def __init__(self, source: Path | BinaryIO, most: int) -> None:
        """Open the archive.

        Args:
            most: Maximum bytes that can be unpacked from it in total.
        """
        try:
            self._zip = zipfile.ZipFile(source)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise Unreadable(Fault.DAMAGED) from error
        self._left = most
        self._names = {info.filename: info for info in self._zip.infolist()}

    def close(self) -> None:
        """Close the archive."""
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @property
    def names(self) -> set[str]:
        """The names of all its parts."""
        return set(self._names)

    def check_xml(self) -> None:
        """Check the size and the document types of all XML for a library that unpacks it."""
        for info in self._names.values():
            if info.filename.lower().endswith((".xml", ".rels")):
                with contextlib.suppress(_RootReached):
                    self._parse(info.filename, _Beginning())

    def read(self, name: str) -> bytes:
        """Return a part."""
        return b"".join(self._pieces(name))

    def has(self, name: str, pattern: re.Pattern[bytes], most: int) -> bool:
        """Return whether a part contains a match of a pattern.

        Args:
            most: Maximum length of a match, in bytes.
        """
        last = b""
        for piece in self._pieces(name):
            if pattern.search(last + piece):
                return True
            last = piece[-most:]
        return False

    def tree(self, name: str) -> ET.Element:
        """Return a small XML part as a tree."""
        tree = _Tree()
        self._parse(name, tree)
        return tree.close()

    def bare_tree(self, name: str) -> ET.Element:
        """Return a small XML part as a tree, with the namespaces of names removed."""
        tree = self.tree(name)
        for element in tree.iter():
            element.tag = element.tag.rpartition("}")[2]
            bare = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
            element.attrib.clear()
            element.attrib.update(bare)
        return tree

    def feed(self, name: str, reader: XmlReader) -> None:
        """Read an XML part that can be large."""
        self._parse(name, reader)

    def _parse(self, name: str, target: _Tree | XmlReader) -> None:
        parser = ET.XMLParser(target=target)  # noqa: S314  entities cannot be declared
        try:
            for piece in self._pieces(name):
                parser.feed(piece)
            parser.close()
        except ET.ParseError as error:
            raise Unreadable(Fault.DAMAGED) from error

    def related(self, name: str) -> dict[str, tuple[str, str]]:
        """Return the relations of a part: by id, the kind and the name of the other part."""
        folder, _, file = name.rpartition("/")
        relations = f"{folder}/_rels/{file}.rels".lstrip("/")
        if relations not in self:
            return {}
        return {
            found.get("Id", ""): (
                found.get("Type", "").rpartition("/")[2],
                resolved(folder, found.get("Target", "")),
            )
            for found in self.tree(relations).iter(f"{_RELATIONS}Relationship")
            if found.get("TargetMode") != "External"
        }

    def _count(self, info: zipfile.ZipInfo) -> None:
        if info.flag_bits & _LOCKED:
            raise Unreadable(Fault.LOCKED)
        self._left -= info.file_size
        if self._left < 0:
            raise Unreadable(Fault.UNPACKS)

    def _pieces(self, name: str) -> Iterator[bytes]:
        info = self._names.get(name)
        if info is None:
            raise Unreadable(Fault.DAMAGED)
        self._count(info)
        with self._zip.open(info) as part:
            while piece := part.read(_PIECE):
                yield piece


def resolved(folder: str, target: str) -> str:
    """Return the name of a part that another part refers to, relative to its folder or the root."""
    target = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
