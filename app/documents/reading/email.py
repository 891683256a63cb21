"""Reads e-mail: a message (.eml), or several in one file (.mbox), with attachments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from email import message_from_bytes, policy
from email.message import EmailMessage, MIMEPart
from typing import Final

from app.documents.reading.collected import Collected
from app.documents.reading.encodings import decode
from app.documents.reading.faults import Unreadable
from app.documents.reading.html import html_text
from app.documents.values.documents import LocationKind, Unread, location_words

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_NEXT: Final = re.compile(rb"(?:\A|\r?\n)From [^\r\n]*\r?\n(?=[!-9;-~]+:)")
_OF_HEADERS: Final = (
    AttributeError,
    IndexError,
    KeyError,
    TypeError,
    ValueError,
    RecursionError,
)
"""Errors that Python's header parser raises on unexpected input."""
_QUOTED: Final = re.compile(rb"(?m)^>(>*From )")
_MOST_ATTACHED: Final = 100
"""Maximum number of attachments of a file that are read; others are only listed by name."""

ReadAttached = Callable[[bytes, str, int], Collected]
"""Reads an attachment from its bytes and name, up to so many characters. Raises Unreadable."""


@dataclass(frozen=True)
class _Attached:
    """The result of reading an attachment.

    Attributes:
        left_out: Why it was not read, or which part of it, in a few words.
    """

    name: str
    read: Collected | None
    left_out: str = ""


def read_email(data: bytes, into: Collected, read: ReadAttached) -> None:
    """Read each message with its headers, then the attachments. Raises Unreadable.

    Files with several messages have the format of RFC 4155.
    """
    attached: list[_Attached] = []
    if not data.startswith(b"From "):
        attached += _read(data, into, read, _MOST_ATTACHED)
    else:
        for part in _NEXT.split(data):
            if part.strip():
                left = _MOST_ATTACHED - len(attached)
                attached += _read(_QUOTED.sub(rb"\1", part), into, read, left)
    for file in attached:
        if file.left_out:
            into.unread.add(Unread.ATTACHMENTS)
        for section in file.read.sections if file.read is not None else ():
            place = section.place
            title = file.name
            if place.kind not in {LocationKind.WHOLE, LocationKind.ATTACHMENT}:
                title = f"{file.name}, {location_words(place)}"
            if section.text.strip():
                into.add(LocationKind.ATTACHMENT, section.text, title)
        into.unread |= file.read.unread if file.read is not None else set()


def _read(data: bytes, into: Collected, read: ReadAttached, most: int) -> list[_Attached]:
    message = message_from_bytes(data, policy=policy.default)
    headers = {name: _header(message, name) for name in _HEADERS}
    lines = [f"{name}: {value}" for name, value in headers.items() if value]
    words, files = _parts(message)
    attached = []
    for number, part in enumerate(files, 1):
        attached.append(_attached(part, number, read if number <= most else None, into.left))
    if attached:
        named = (
            f"{file.name} ({file.left_out})" if file.left_out else file.name for file in attached
        )
        lines.append(f"Attachments: {', '.join(named)}")
    into.add(LocationKind.MESSAGE, "\n".join(lines) + "\n\n" + words, headers["Subject"])
    return attached


def _attached(part: MIMEPart, number: int, read: ReadAttached | None, most: int) -> _Attached:
    """Read an attachment, or note that it was not read."""
    name = " ".join(_name(part).split()) or f"attachment {number}"
    data = _data(part)
    if read is None or data is None:
        return _Attached(name, None, "not read")
    if part.get_content_type() == "message/rfc822" and not name.lower().endswith(".eml"):
        name += ".eml"
    if not data:
        return _Attached(name, None, "empty")
    try:
        found = read(data, name, most)
    except Unreadable:
        return _Attached(name, None, "not read")
    sections = [section for section in found.sections if section.text.strip()]
    if not sections:
        return _Attached(name, None, "not read: a picture" if found.scanned else "no text in it")
    if found.scanned:
        left_out = f"{len(found.scanned)} pages not read: pictures"
        return _Attached(name, found, left_out)
    return _Attached(name, found)


def _data(part: MIMEPart) -> bytes | None:
    """Return the bytes of an attachment; None if they cannot be decoded."""
    with suppress(*_OF_HEADERS):
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0)
            return inner.as_bytes() if isinstance(inner, EmailMessage) else None
        content = part.get_payload(decode=True)
        return content if isinstance(content, bytes) else None
    return None


def _header(message: MIMEPart, name: str) -> str:
    """Return a decoded header, or the raw one if it cannot be decoded."""
    with suppress(*_OF_HEADERS):
        return str(message[name] or "")
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(str(raw).encode("ascii", "replace").decode("ascii").split())


def _name(part: MIMEPart) -> str:
    with suppress(*_OF_HEADERS):
        if part.get_content_type() == "message/rfc822" and not part.get_filename():
            inner = part.get_payload(0)
            return _header(inner, "Subject") if isinstance(inner, EmailMessage) else ""
        return part.get_filename() or ""
    return ""


def _parts(message: EmailMessage) -> tuple[str, list[MIMEPart]]:
    """Return the text of a message, and its attachments."""
    with suppress(*_OF_HEADERS):
        body = message.get_body(("plain", "html"))
        words = [_words(body)] if body is not None else []
        files: list[MIMEPart] = []
        if body is None and not message.is_multipart():
            return "", [message]  # the whole message is a file
        for part in message.iter_attachments():
            is_text = part.get_content_type() in {"text/plain", "text/html"} and not _name(part)
            if is_text and part.get_content_disposition() != "attachment":
                words.append(_words(part))  # mailing lists add a text below the message
            elif part.is_multipart() and part.get_content_type() != "message/rfc822":
                files += _leaves(part)
            elif _name(part) or part.get_content_maintype() not in {"image", "multipart"}:
                files.append(part)
        return "\n\n".join(filter(None, words)), files
    return "(The text of this message cannot be read.)", []


def _leaves(part: MIMEPart) -> Iterator[MIMEPart]:
    """Yield the parts within a multipart part."""
    for inner in part.walk():
        if not inner.is_multipart():
            yield inner


def _words(part: MIMEPart) -> str:
    content = part.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    try:
        text = decode(data, str(part.get_content_charset("")))
    except Unreadable:
        return "(The text of this message cannot be read.)"  # but its headers can be read
    return html_text(text)[0] if part.get_content_subtype() == "html" else text
