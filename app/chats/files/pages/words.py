"""The texts about attached files: their kind, their size, and the part that the model is given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from app.chats.context.pages.words import short
from app.documents.pages.words import parts_words
from app.documents.values.documents import Attachment, DocumentKind, FileShare, LocationKind
from app.kit.look.direction import isolated
from app.kit.look.format import figure, small_size, tokens

if TYPE_CHECKING:
    from app.chats.context.values.budget import FileUse

_tr = QCoreApplication.translate
_MOST_NAMED = 3
_DRAWINGS: Mapping[DocumentKind, str] = {
    DocumentKind.PDF: "file-pdf",
    DocumentKind.CSV: "file-table",
    DocumentKind.XLSX: "file-table",
    DocumentKind.PPTX: "file-slides",
    DocumentKind.HTML: "file-code",
    DocumentKind.EPUB: "file-book",
    DocumentKind.EMAIL: "file-letter",
    DocumentKind.IMAGE: "image",
    DocumentKind.AUDIO: "sound",
}
"""The icons of the kinds of files that are not plain text."""
_CODE = frozenset(
    f".{suffix}"
    for suffix in (
        "c cc cpp cs css go h hpp java js json jsx kt lua php pl ps1 py r rb rs sh sql swift toml "
        "ts tsx xml yaml yml"
    ).split()
)
"""The endings of texts that are code."""


def drawing_of(kind: DocumentKind, name: str) -> str:
    """Return the name of the icon for a file of a kind."""
    if kind is DocumentKind.TEXT and PurePath(name).suffix.lower() in _CODE:
        return "file-code"
    return _DRAWINGS.get(kind, "document")


def description(file: Attachment) -> str:
    """Return a short description of a file: 480 pages · 2.1 MB."""
    texts = [extent(file), small_size(file.size)]
    texts.append(unread_text(file))
    return " · ".join(filter(None, texts))


def unread_text(file: Attachment) -> str:
    """Return in a few words which part of a file was not read; "" if all was."""
    if file.reading == "scan":
        return _tr("files", "scan without text")
    if file.reading == "empty":
        return _tr("files", "no text in it")
    if file.reading == "partly_read":
        if file.scanned == 1:
            return _tr("files", "1 page without text")
        return _tr("files", "{scanned} pages without text").format(scanned=figure(file.scanned))
    return (
        _tr("files", "without {unread}").format(unread=parts_words(file.unread))
        if file.unread
        else ""
    )


def extent(file: Attachment) -> str:
    """Return the number of pages, pixels or seconds of a file as text; "" for a plain text."""
    if file.width:
        return f"{figure(file.width)} × {figure(file.height)}"
    if file.seconds:
        whole = max(1, round(file.seconds))
        return f"{whole // 60}:{whole % 60:02}"
    return place_count(file.kind.location, file.places) if file.places > 1 else ""


def place_count(kind: LocationKind, count: int) -> str:
    """Return a number of places of a kind as text: 1 page, 480 pages."""
    singular, plural = {
        LocationKind.PAGE: (_tr("files", "1 page"), _tr("files", "{count} pages")),
        LocationKind.SLIDE: (_tr("files", "1 slide"), _tr("files", "{count} slides")),
        LocationKind.SHEET: (_tr("files", "1 sheet"), _tr("files", "{count} sheets")),
        LocationKind.CHAPTER: (_tr("files", "1 chapter"), _tr("files", "{count} chapters")),
        LocationKind.MESSAGE: (
            _tr("files", "1 message"),
            _tr("files", "{count} messages and attachments"),
        ),
    }.get(kind, (_tr("files", "1 section"), _tr("files", "{count} sections")))
    return singular if count == 1 else plural.format(count=figure(count))


def share_text(share: FileShare) -> str:
    """Return how much of a file is in the prompt, as text: 12 of 480 pages are in."""
    if share.nothing:
        return _tr("files", "nothing of it is in")
    if share.complete:
        return _tr("files", "all of it is in")
    if share.whole:
        return _tr("files", "all its text is in, {unseen}").format(unseen=_left_out(share.unseen))
    if share.of <= 1:
        return _tr("files", "parts of it are in")
    words = (
        _tr("files", "{places} of {kind} is in")
        if share.places == 1
        else _tr("files", "{places} of {kind} are in")
    )
    text = words.format(places=figure(share.places), kind=place_count(share.kind, share.of))
    return f"{text}, {_left_out(share.unseen)}" if share.unseen else text


def _left_out(pages: int) -> str:
    """Return a text that says that scanned pages, which are pictures, do not go to the model."""
    if pages == 1:
        return _tr("files", "1 scanned page is left out")
    return _tr("files", "{pages} scanned pages are left out").format(pages=figure(pages))


def share_and_tokens(use: FileUse, *, exact: bool) -> str:
    """Return which part of a file is in the prompt, and its tokens, as text."""
    return f"{share_text(use.share)} · {tokens(use.tokens, guessed=not exact)}"


def token_text(use: FileUse, *, exact: bool) -> str:
    """Return the tokens of a whole file as text, and the part in the prompt if it is not all."""
    if use.share.nothing:
        return share_text(use.share)
    if use.share.whole:
        text = tokens(use.tokens, guessed=not exact)
        return f"{text} · {_left_out(use.share.unseen)}" if use.share.unseen else text
    whole = _tr("files", "about {whole} tokens").format(whole=short(use.whole))
    return f"{whole} · {share_text(use.share)}"


def collections_sentence(names: Sequence[str]) -> str:
    """Return a sentence that names the collections' files of which the model was given passages."""
    shown = ", ".join(map(isolated, names[:_MOST_NAMED]))
    if len(names) > _MOST_NAMED:
        words = _tr("files", "The model was given passages from {shown} and {count} more.")
        return words.format(shown=shown, count=figure(len(names) - _MOST_NAMED))
    return _tr("files", "The model was given passages from {shown}.").format(shown=shown)


def coverage_sentence(share: FileShare) -> str:
    """Return a sentence that says how much of a file the model was given."""
    if share.unseen and share.nothing:
        words = _tr("files", "The model was given nothing from {name}: its pages are scanned.")
        return words.format(name=isolated(share.name))
    if share.whole:
        if share.unseen == 1:
            words = _tr("files", "The model was given all of {name} but 1 scanned page.")
        else:
            words = _tr("files", "The model was given all of {name} but {unseen} scanned pages.")
        return words.format(name=isolated(share.name), unseen=figure(share.unseen))
    name = isolated(share.name)
    if share.nothing:
        words = _tr(
            "files", "The model was given nothing from {name}: nothing in it matches the question."
        )
        return words.format(name=name)
    if share.unmatched:
        words = _tr(
            "files",
            "Nothing in {name} matches the question, so the model was given its beginning.",
        )
        return words.format(name=name)
    if share.of <= 1:
        return _tr("files", "The model was given parts of {name}.").format(name=name)
    words = _tr("files", "The model was given {places} of {kind} of {name}.")
    return words.format(
        places=figure(share.places), kind=place_count(share.kind, share.of), name=name
    )
