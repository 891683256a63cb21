"""Reads the parts of a ZIP archive, and the XML in them, that a stranger may have made."""

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
"""The bit of an entry's flags that says that it is encrypted."""


class XmlReader:
    """Is told of the tags and words of an XML file, one after the other; names have no namespace.

    A document type is refused: only there can entities be declared that grow without end. Office
    files have none (ECMA-376, part 2, 8.1.4).
    """

    def opened(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take the beginning of an element."""

    def closed(self, tag: str) -> None:
        """Take the end of an element."""

    def data(self, text: str) -> None:
        """Take words that stand in an element."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Called by the parser; so are `end`, `doctype` and `close`."""
        bare = {name.rpartition("}")[2]: value for name, value in attributes.items()}
        self.opened(tag.rpartition("}")[2], bare)

    def end(self, tag: str) -> None:
        self.closed(tag.rpartition("}")[2])

    def doctype(self, *_declared: object) -> NoReturn:
        raise Unreadable(Fault.DAMAGED)

    def close(self) -> None:
        pass


class _Tree(ET.TreeBuilder):
    def doctype(self, *_declared: object) -> NoReturn:
        """Refuse a document type, as `XmlReader` does."""
        raise Unreadable(Fault.DAMAGED)


class _Begun(Exception):
    """The first element of an XML file has been reached: what declares entities comes before."""


class _Beginning(XmlReader):
    def start(self, tag: str, attributes: Mapping[str, str]) -> None:  # noqa: ARG002
        raise _Begun


class Package:
    """A DOCX, XLSX, PPTX or EPUB. most: the bytes that may be unpacked of it altogether.

    Raises Unreadable, also in its methods. `zipfile` unpacks no more of an entry than the archive
    declares, so what is declared can be counted on.
    """

    def __init__(self, source: Path | BinaryIO, most: int) -> None:
        try:
            self._zip = zipfile.ZipFile(source)
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise Unreadable(Fault.DAMAGED) from error
        self._left = most
        self._names = {info.filename: info for info in self._zip.infolist()}

    def close(self) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    @property
    def names(self) -> set[str]:
        """The names of all its parts."""
        return set(self._names)

    def check_xml(self) -> None:
        """Check all XML, for a library that unpacks it itself: how much it is, and its types."""
        for info in self._names.values():
            if info.filename.lower().endswith((".xml", ".rels")):
                with contextlib.suppress(_Begun):
                    self._parse(info.filename, _Beginning())

    def read(self, name: str) -> bytes:
        """Return a part."""
        return b"".join(self._pieces(name))

    def has(self, name: str, pattern: re.Pattern[bytes], most: int) -> bool:
        """Tell whether a part holds what a pattern matches, which is at most so many bytes long."""
        last = b""
        for piece in self._pieces(name):
            if pattern.search(last + piece):
                return True
            last = piece[-most:]
        return False

    def tree(self, name: str) -> ET.Element:
        """Return a part of XML that is small."""
        tree = _Tree()
        self._parse(name, tree)
        return tree.close()

    def bare_tree(self, name: str) -> ET.Element:
        """Return a part of XML that is small, without the namespaces of its names."""
        tree = self.tree(name)
        for element in tree.iter():
            element.tag = element.tag.rpartition("}")[2]
            bare = {name.rpartition("}")[2]: value for name, value in element.attrib.items()}
            element.attrib.clear()
            element.attrib.update(bare)
        return tree

    def feed(self, name: str, reader: XmlReader) -> None:
        """Read a part of XML that may be large."""
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
        """Return what a part is related to: by identifier, the kind and the other part's name."""
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

    def _take(self, info: zipfile.ZipInfo) -> None:
        if info.flag_bits & _LOCKED:
            raise Unreadable(Fault.LOCKED)
        self._left -= info.file_size
        if self._left < 0:
            raise Unreadable(Fault.UNPACKS)

    def _pieces(self, name: str) -> Iterator[bytes]:
        info = self._names.get(name)
        if info is None:
            raise Unreadable(Fault.DAMAGED)
        self._take(info)
        with self._zip.open(info) as part:
            while piece := part.read(_PIECE):
                yield piece


def resolved(folder: str, target: str) -> str:
    """Return the name of a part that another names, relative to its folder or to the root."""
    target = unquote(target.partition("#")[0])
    return posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
