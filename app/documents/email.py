"""Reads e-mail: a message (.eml), or several in one file (.mbox)."""

from __future__ import annotations

import re
from contextlib import suppress
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Final

from app.core.documents import LocationKind
from app.documents.collected import Collected
from app.documents.encodings import decode
from app.documents.faults import Unreadable
from app.documents.html import html_text

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
"""What Python's parser of headers raises where it meets what it does not expect."""
_QUOTED: Final = re.compile(rb"(?m)^>(>*From )")


def read_email(data: bytes, into: Collected) -> None:
    """Read each message with its headers; of its attachments, only the names. Raises Unreadable.

    The format of files with several is that of RFC 4155.
    """
    if not data.startswith(b"From "):
        _read(data, into)
        return
    for part in _NEXT.split(data):
        if part.strip():
            _read(_QUOTED.sub(rb"\1", part), into)


def _read(data: bytes, into: Collected) -> None:
    message = message_from_bytes(data, policy=policy.default)
    headers = {name: _header(message, name) for name in _HEADERS}
    lines = [f"{name}: {value}" for name, value in headers.items() if value]
    if names := ", ".join(filter(None, map(_name, message.iter_attachments()))):
        lines.append(f"Attachments: {names}")
    text = "\n".join(lines) + "\n\n" + _body(message)
    into.add(LocationKind.MESSAGE, text, headers["Subject"])


def _header(message: EmailMessage, name: str) -> str:
    """Return a header as it is meant, or as it stands there if nobody can tell that."""
    with suppress(*_OF_HEADERS):
        return str(message[name] or "")
    raw = next((value for key, value in message.raw_items() if key.lower() == name.lower()), "")
    return " ".join(str(raw).encode("ascii", "replace").decode("ascii").split())


def _name(part: EmailMessage) -> str:
    with suppress(*_OF_HEADERS):
        return part.get_filename() or ""
    return ""


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    content = part.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    try:
        text = decode(data, str(part.get_content_charset("")))
    except Unreadable:
        return "(The text of this message cannot be read.)"  # its headers can
    return html_text(text)[0] if part.get_content_subtype() == "html" else text
