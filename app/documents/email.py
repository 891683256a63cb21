"""Reads e-mail: a message (.eml), or several in one file (.mbox)."""

from __future__ import annotations

import re
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Final

from app.core.documents import LocationKind
from app.documents.collected import Collected
from app.documents.html import html_text
from app.documents.text import decode

_HEADERS: Final = ("From", "To", "Cc", "Date", "Subject")
_NEXT: Final = re.compile(rb"(?:\A|\r?\n)From [^\r\n]*\r?\n(?=[!-9;-~]+:)")
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
    lines = [f"{name}: {message[name]}" for name in _HEADERS if message[name]]
    attached = [part.get_filename() for part in message.iter_attachments()]
    if names := ", ".join(name for name in attached if name):
        lines.append(f"Attachments: {names}")
    text = "\n".join(lines) + "\n\n" + _body(message)
    into.add(LocationKind.MESSAGE, text, str(message["Subject"] or ""))


def _body(message: EmailMessage) -> str:
    part = message.get_body(("plain", "html"))
    if part is None:
        return ""
    content = part.get_payload(decode=True)
    data = content if isinstance(content, bytes) else b""
    text = decode(data, str(part.get_content_charset("")))
    return html_text(text)[0] if part.get_content_subtype() == "html" else text
