"""Detects the encoding of a text and decodes it, or gives up rather than produce wrong letters.

chardet (0BSD) recognises the encodings of all languages by their pairs of letters; no program can
do that with only a few bytes. So a text with few letters beyond ASCII is taken for Windows' Western
encoding as long as the result makes sense.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections.abc import Sequence
from typing import Final

from app.documents.reading.faults import Fault, Unreadable

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NO_TEXT: Final = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_BINARY: Final = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_SAMPLE: Final = 4096
_MOSTLY: Final = 0.7
_ESCAPED: Final = re.compile(rb"\x1b(?:\$|\([BJI])")
"""Escape sequences that switch between the alphabets of ISO 2022."""

_WIDER: Final = {
    "gb2312": "gb18030", "gbk": "gb18030", "cp936": "gb18030", "x-gbk": "gb18030",
    "shift_jis": "cp932", "shift-jis": "cp932", "sjis": "cp932", "x-sjis": "cp932",
    "windows-31j": "cp932", "euc-kr": "cp949", "ks_c_5601-1987": "cp949", "euc_kr": "cp949",
    "big5": "big5hkscs", "iso-8859-1": "cp1252", "latin1": "cp1252", "iso8859-1": "cp1252",
    "iso-8859-9": "cp1254", "tis-620": "cp874", "iso-8859-11": "cp874",
    "iso-2022-jp": "iso2022_jp_2",
}  # fmt: skip
"""Encodings that programs really use under the name of a smaller one."""

_LATIN: Final = {
    "cp1250", "cp1252", "cp1254", "cp1257", "iso8859-1", "iso8859-2", "iso8859-3", "iso8859-4",
    "iso8859-9", "iso8859-10", "iso8859-13", "iso8859-14", "iso8859-15", "iso8859-16", "cp437",
    "cp850", "cp852", "cp858", "cp860", "cp861", "cp863", "cp865", "mac-roman", "mac-latin2",
    "mac-turkish", "hp-roman8", "cp775", "cp857", "mac-iceland", "cp1258",
}  # fmt: skip
_LEAST_WORDS: Final = 4
"""Minimum words beyond ASCII needed to distinguish languages with Latin letters."""
_LEAST_BYTES: Final = 6
"""Minimum bytes beyond ASCII needed to distinguish languages with other letters."""

_LEAST_LETTERS: Final = 3
"""Minimum letters beyond ASCII needed to recognise a line as UTF-8."""

_BEYOND: Final = re.compile(rb"[\x80-\xff]")
_WORDS_BEYOND: Final = re.compile(rb"[A-Za-z]*[\x80-\xff][A-Za-z\x80-\xff]*")
_CASES: Final = re.compile("[а-яά-ώ][А-ЯΑ-Ω]")  # noqa: RUF001
"""A capital within a word, which a wrong encoding produces."""

_ICELANDIC: Final = re.compile("[þýðÞÝÐ]")
"""Letters at whose codes Turkish has its own letters."""

_RUN: Final = re.compile(rb"[\x80-\xff]{3}")
"""Several bytes beyond ASCII in a row, which is rare in languages with Latin letters."""
_WINDOWS_RUN: Final = re.compile("[^\\W\\d_a-zA-Z]{3}")

_NONSENSE: Final = re.compile(
    "(?<=[^\\W\\d_])[\u00b9\u00b2\u00b3\u00a3\u00a5\u00a4\u00a6\u00a8\u00ac\u00ae\u00af\u00b1\u00b4"
    "\u00b6\u00b8\u00bb\u00ab\u00bf\u00a1\u2030\u2020\u2021\u02c6\u02dc\u2122\u201c\u201d\u201e"
    "\u201a\u2039\u203a\u2022\u00a2\u00a9](?=[^\\W\\d_])|(?<!\\d)[\u00b9\u00b3\u00a3\u00a5\u00a4](?=[a-z])"
)
"""Signs within words, which appear if a text in another encoding is decoded as Windows'."""


def decode(data: bytes, declared: str = "") -> str:
    """Decode a text by its byte order mark, as UTF-8, as declared, or by its letters.

    Raises:
        Unreadable: It has characters that no text has, or its encoding cannot be detected.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, errors="replace")
    if encoding := _unmarked(data):
        return data.decode(encoding, errors="replace")
    text = _escaped(data, declared)
    if text is None:
        text = _utf8(data)
    if text is None:
        text = _as_declared(data, declared)
    if text is None:
        if _BINARY.search(data):
            raise Unreadable(Fault.UNKNOWN)
        text = _detected(data)
    if _NO_TEXT.search(text):
        raise Unreadable(Fault.UNKNOWN)
    return text


def _unmarked(data: bytes) -> str:
    """Detect UTF-16 without a mark by its zeros: in Western text every second byte is zero."""
    sample = data[:_SAMPLE]
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    many = _MOSTLY * len(sample) / 2
    if max(even, odd) <= many or min(even, odd):
        return ""
    encoding = "utf-16-le" if odd > many else "utf-16-be"
    text = data.decode(encoding, errors="replace")
    western = sum(map(str.isascii, text[:_SAMPLE])) > _MOSTLY * len(text[:_SAMPLE])
    return encoding if western and not _NO_TEXT.search(text) else ""


def _escaped(data: bytes, declared: str) -> str | None:
    """Decode ISO 2022, used in Japanese e-mail; all of its bytes are ASCII too."""
    if declared.lower().startswith(("hz", "utf-7")):
        return _strictly(data, declared)
    if not _ESCAPED.search(data):
        return None
    for encoding in ("iso2022_jp_2", "iso2022_jp_ext", "iso2022_kr"):
        if (text := _strictly(data, encoding)) is not None:
            return text
    raise Unreadable(Fault.ENCODING)


def _utf8(data: bytes) -> str | None:
    return _strictly(data, "utf-8")


def _strictly(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (LookupError, UnicodeError, ValueError):
        return None


def _as_declared(data: bytes, declared: str) -> str | None:
    declared = declared.strip().lower()
    if declared in {"", "us-ascii", "ascii", "utf-8", "unknown-8bit", "binary", "x-unknown"}:
        return None
    text = _strictly(data, _WIDER.get(declared, declared))
    return text if text is None or _is_sane(text) else None


def _detected(data: bytes) -> str:
    """Decode a text by its letters. Raises Unreadable."""
    # A file can be joined from others, so lines in UTF-8 are kept as UTF-8.
    lines = data.splitlines(keepends=True)
    unreadable = [line for line in lines if _utf8(line) is None]
    rest = b"".join(unreadable)
    windows = _strictly(rest, "cp1252")
    if windows is None or _WINDOWS_RUN.search(windows) or _RUN.search(rest):
        encoding, text = _guessed(unreadable)
        if text is not None and encoding not in _LATIN and _is_sane(text):
            few = len(set(_WORDS_BEYOND.findall(rest))) < _LEAST_WORDS
            known = len(_BEYOND.findall(b"".join(dict.fromkeys(unreadable))))
            if known < _LEAST_BYTES or (few and _CASES.search(text)):
                raise Unreadable(Fault.ENCODING)
            return "".join(_line(line, encoding) for line in lines)
    encoding = "cp1252" if windows is not None and _is_plausible(windows) else ""
    words = len(set(_WORDS_BEYOND.findall(rest)))
    if not encoding or words >= _LEAST_WORDS or _ICELANDIC.search(windows or ""):
        found, text = _guessed(unreadable)
        if found in _LATIN and text is not None and _is_plausible(text):
            encoding = found
    if not encoding:
        raise Unreadable(Fault.ENCODING)
    return "".join(_utf8(line) or line.decode(encoding) for line in lines)


def _line(line: bytes, encoding: str) -> str:
    """Decode a line; two Chinese letters can be valid UTF-8 by chance, more hardly ever."""
    text = _utf8(line)
    by_chance = text is None or sum(character > "\x7f" for character in text) < _LEAST_LETTERS
    return line.decode(encoding, errors="replace") if by_chance else text or ""


def _guessed(lines: Sequence[bytes]) -> tuple[str, str | None]:
    """Return the likeliest encoding of lines, and their text; repeated lines count once."""
    import chardet

    found = chardet.detect(b"".join(dict.fromkeys(lines)))["encoding"] or ""
    encoding = _named(_WIDER.get(found.lower(), found))
    return encoding, _strictly(b"".join(lines), encoding)


def _named(encoding: str) -> str:
    """Return Python's name of an encoding; "" if it has none."""
    try:
        return codecs.lookup(encoding).name
    except LookupError:
        return ""


def _is_plausible(text: str) -> bool:
    """Return whether a text with Latin letters looks correctly decoded."""
    return not (_NONSENSE.search(text) or _WINDOWS_RUN.search(text)) and _is_sane(text)


def _is_sane(text: str) -> bool:
    """Return whether a text has no characters that only a wrong encoding produces."""
    return not any(
        unicodedata.category(character) in {"Co", "Cn", "Cs"} or "\x7f" <= character <= "\x9f"
        for character in set(text)
    )
