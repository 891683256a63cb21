"""Reads RTF (Microsoft's specification 1.9.1): the displayed words without the markup.

striprtf, the only maintained library, ignores whether text is raised, hidden or deleted: 10² would
become 102.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from app.documents.reading.collected import Collected, Outline
from app.documents.reading.faults import Fault, Unreadable
from app.documents.reading.formulas import NOT_READ
from app.documents.values.documents import LocationKind, Unread
from app.documents.values.shifted import Shift, in_line

RTF_START: Final = b"{\\rtf"

_TOKEN: Final = re.compile(
    rb"\\(?:'(?P<hex>[0-9a-fA-F]{2})|(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,9})?[ ]?"
    rb"|(?P<sign>[^a-zA-Z']))|(?P<brace>[{}])|[\r\n]+|(?P<text>[^\\{}\r\n]+)"
)
_MOST_DEEP: Final = 1000
_CODEPAGES: Final = {
    0: "cp1252", 77: "mac-roman", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "big5hkscs",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257",
    204: "cp1251", 222: "cp874", 238: "cp1250", 255: "cp437",
}  # fmt: skip
"""Encodings by the charset numbers of fonts."""

_WRITTEN: Final = {
    b"tab": "\t", b"line": "\n", b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’",  # noqa: RUF001
    b"ldblquote": "“", b"rdblquote": "”", b"bullet": "•", b"emspace": " ", b"enspace": " ",
    b"qmspace": " ", b"~": " ", b"_": "-", b"zwj": "\u200d", b"zwnj": "\u200c",
}  # fmt: skip
_SKIPPED: Final = {
    b"colortbl", b"stylesheet", b"info", b"pict", b"themedata", b"colorschememapping", b"listtable",
    b"listoverridetable", b"rsidtbl", b"generator", b"datastore", b"xmlnstbl", b"latentstyles",
    b"fldinst", b"nonshppict", b"objdata", b"objclass", b"bkmkstart", b"bkmkend", b"annotation",
    b"atnid", b"atnauthor", b"revtbl", b"filetbl", b"datafield", b"sp", b"mmathPr", b"pgdsctbl",
}  # fmt: skip
_VISIBLE: Final = {b"shptxt", b"shpinst", b"shpgrp"}
"""Destinations whose text is displayed although programs can ignore them."""
_MARGINS: Final = {
    b"header": "header", b"headerl": "header", b"headerr": "header", b"headerf": "header",
    b"footer": "footer", b"footerl": "footer", b"footerr": "footer", b"footerf": "footer",
    b"footnote": "footnote",
}  # fmt: skip


@dataclass(frozen=True)
class _State:
    """The state within a group.

    Attributes:
        part: "body", "fonts", or a part beside the body.
        skipped: The text is not displayed.
        skips: The number of characters after a Unicode one that repeat it for old programs.
        is_new: Nothing has been read in the group yet.
        starred: The group is ignored unless its first word is known.
    """

    part: str = "body"
    skipped: bool = False
    shift: Shift = ""
    hidden: bool = False
    encoding: str = "cp1252"
    skips: int = 1
    is_new: bool = False
    starred: bool = False


def read_rtf(data: bytes, into: Collected) -> None:
    """Read a text, divided at its headings, then notes, headers and footers. Raises Unreadable."""
    reader = _Reader(data, into.unread)
    reader.read()
    outline = Outline(into)
    for is_heading, line in reader.lines:
        if is_heading and line.strip():
            outline.heading(" ".join(line.split()))
        else:
            outline.write(f"{line}\n")
    outline.end()
    for part, texts in reader.notes.items():
        note_text = "\n\n".join(dict.fromkeys(filter(None, (text.strip() for text in texts))))
        if note_text:
            into.add(LocationKind.HEADING, f"({part}s)\n\n{note_text}", f"{part.capitalize()}s")


class _Reader:
    """Walks through the tokens of an RTF file, group by group."""

    def __init__(self, data: bytes, unread: set[Unread]) -> None:
        self.lines: list[tuple[bool, str]] = []
        self.notes: dict[str, list[str]] = {"footnote": [], "header": [], "footer": []}
        self._data = data
        self._unread = unread
        self._state = _State()
        self._groups: list[_State] = []
        self._pieces: dict[str, list[tuple[Shift, str]]] = {"body": []}
        self._bytes = bytearray()
        self._left = 0
        self._fonts: dict[int, str] = {}
        self._font = 0
        self._usual = "cp1252"
        self._is_heading = False
        self._high = ""

    def read(self) -> None:
        for token in self._tokens():
            if token["hex"]:
                self._take_bytes(bytes.fromhex(token["hex"].decode("ascii")))
            elif token["text"]:
                self._take_bytes(token["text"])
            elif token["brace"]:
                self._flush()
                self._brace(token["brace"] == b"{")
            elif (word := token["word"] or token["sign"]) is not None:
                self._flush()
                number = token["number"]
                self._control(word, None if number is None else int(number))
        self._flush()
        self._end_line()

    def _tokens(self) -> Iterator[re.Match[bytes]]:
        at = 0
        while found := _TOKEN.search(self._data, at):
            at = found.end()
            if found["word"] == b"bin" and found["number"]:
                at += max(0, int(found["number"]))
                continue
            yield found

    def _brace(self, opens: bool) -> None:
        if opens:
            if len(self._groups) >= _MOST_DEEP:
                raise Unreadable(Fault.DAMAGED)
            self._groups.append(self._state)
            self._state = replace(self._state, is_new=True, starred=False)
        elif self._groups:
            before = self._groups.pop()
            if self._state.part != before.part and self._state.part in self.notes:
                pieces = self._pieces.pop(self._state.part, [])
                self.notes[self._state.part].append(in_line(pieces))
            self._state = before
        self._left = 0

    def _control(self, word: bytes, number: int | None) -> None:
        state = self._state
        self._left = 0
        if state.is_new and not self._begins(word):
            return
        state = self._state
        if state.skipped and word not in {b"u", b"uc"}:
            return
        if state.part == "fonts":
            self._of_font(word, number)
        elif word in _WRITTEN:
            self._write(_WRITTEN[word])
        elif word in {b"\\", b"{", b"}"}:
            self._write(word.decode("ascii"))
        elif word == b"u":
            self._write_unicode(number or 0)
        elif not self._skip_or_style(word, number):
            self._divide(word, number)

    def _begins(self, word: bytes) -> bool:
        """Process the first word of a group; return whether it has another meaning too."""
        if word == b"*":
            self._state = replace(self._state, starred=True)
            return False
        state = replace(self._state, is_new=False)
        if word == b"fonttbl":
            state = replace(state, part="fonts")
        elif word in {b"moMath", b"moMathPara"}:
            if not state.skipped:
                self._unread.add(Unread.FORMULAS)
                self._write(NOT_READ)
            state = replace(state, skipped=True)
        elif word in _MARGINS:
            part = _MARGINS[word]
            state = replace(state, part=part, skipped=state.skipped or state.starred)
            self._pieces.setdefault(part, [])
        elif word in _VISIBLE:
            state = replace(state, skipped=state.skipped and word != b"shptxt")
        elif word in _SKIPPED or state.starred:
            state = replace(state, skipped=True)
        else:
            self._state = state
            return True
        self._state = state
        return False

    def _of_font(self, word: bytes, number: int | None) -> None:
        if word == b"f":
            self._font = number or 0
        elif word == b"fcharset" and number in _CODEPAGES and number:
            self._fonts[self._font] = _CODEPAGES[number]

    def _skip_or_style(self, word: bytes, number: int | None) -> bool:
        """Process a word that formats the text after it; return whether it is one."""
        on = number != 0
        state = self._state
        match word:
            case b"super" | b"sub":
                shift: Shift = "raised" if word == b"super" else "lowered"
                state = replace(state, shift=shift if on else "")
            case b"up" | b"dn":
                shift = "raised" if word == b"up" else "lowered"
                state = replace(state, shift=shift if on else "")
            case b"nosupersub":
                state = replace(state, shift="")
            case b"v" | b"deleted":
                state = replace(state, hidden=on)
            case b"plain":
                state = replace(state, shift="", hidden=False, encoding=self._usual)
            case b"f":
                state = replace(state, encoding=self._fonts.get(number or 0, self._usual))
            case b"ansicpg":
                self._usual = _codec(f"cp{number}")
                state = replace(state, encoding=self._usual)
            case b"mac" | b"pc" | b"pca":
                self._usual = {b"mac": "mac-roman", b"pc": "cp437"}.get(word, "cp850")
                state = replace(state, encoding=self._usual)
            case b"uc":
                state = replace(state, skips=max(0, min(number or 0, 10)))
            case _:
                return False
        self._state = state
        return True

    def _divide(self, word: bytes, number: int | None) -> None:
        """Process the ends of paragraphs, cells and rows."""
        if word in {b"par", b"sect", b"page", b"row", b"\n", b"\r"}:
            self._end_line()
        elif word in {b"cell", b"nestcell"}:
            self._write(" | ")
        elif word == b"pard":
            self._is_heading = False
        elif word == b"outlinelevel":
            self._is_heading = number is not None and 0 <= number < 9
        elif word == b"objemb":
            self._unread.add(Unread.OBJECTS)

    def _take_bytes(self, data: bytes) -> None:
        """Process text, without characters that only repeat a Unicode one."""
        self._state = replace(self._state, is_new=False) if self._state.is_new else self._state
        if self._left:
            skipped = min(self._left, len(data))
            self._left -= skipped
            data = data[skipped:]
        self._bytes += data

    def _flush(self) -> None:
        if self._bytes:
            data = bytes(self._bytes)
            self._bytes.clear()
            if not self._state.skipped and self._state.part != "fonts":
                self._write(data.decode(self._state.encoding, errors="replace"))

    def _write_unicode(self, number: int) -> None:
        number &= 0xFFFF
        self._left = self._state.skips
        if 0xD800 <= number < 0xDC00:
            self._high = chr(number)
            return
        text = self._high + chr(number)
        self._high = ""
        if 0xF000 <= number < 0xF100:  # a character of a symbol font
            text = "(symbol)"
        if not self._state.skipped:
            self._write(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def _write(self, text: str) -> None:
        state = self._state
        if not (state.hidden or state.skipped):
            self._pieces.setdefault(state.part, []).append((state.shift, text))

    def _end_line(self) -> None:
        part = self._state.part
        if part != "body":
            self._pieces.setdefault(part, []).append(("", "\n"))
            return
        line = in_line(self._pieces["body"]).removesuffix(" | ")
        self._pieces["body"] = []
        self.lines.append((self._is_heading, line))


def _codec(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8" if name == "cp65001" else "cp1252"
