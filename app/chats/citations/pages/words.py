"""The texts about checked quotes."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.documents.citations.values import CheckedAnswer, Citation, GivenPassage
from app.documents.pages.words import place_words
from app.documents.values.documents import TextSpan
from app.kit.look.direction import isolated

_tr = QCoreApplication.translate


def summary(checked: CheckedAnswer) -> str:
    """Return the summary of an answer's quotes."""
    count = len(checked.citations)
    if not count:
        return _tr("citations", "No quote to check")
    if count == 1:
        words = _tr("citations", "1 quote checked")
    else:
        words = _tr("citations", "{count} quotes checked").format(count=count)
    parts = [words]
    if unchecked := checked.count("place_unchecked"):
        words = (
            _tr("citations", "1 place not checked")
            if unchecked == 1
            else _tr("citations", "{unchecked} places not checked").format(unchecked=unchecked)
        )
        parts.append(words)
    if elsewhere := checked.count("elsewhere"):
        parts.append(_tr("citations", "{elsewhere} elsewhere").format(elsewhere=elsewhere))
    if missing := checked.count("not_found"):
        parts.append(_tr("citations", "{missing} not found").format(missing=missing))
    if len(parts) == 1:
        parts.append(_tr("citations", "found") if count == 1 else _tr("citations", "all found"))
    return ", ".join(parts)


def given_words(count: int) -> str:
    """Return how many passages of files the model was given."""
    if count == 1:
        return _tr("citations", "1 passage given")
    return _tr("citations", "{count} passages given").format(count=count)


def passage_place(passage: GivenPassage) -> str:
    """Return the file and the place of a passage, as text."""
    return ", ".join([isolated(passage.name), *map(_place_of, passage.spans)])


def verdict(citation: Citation, checked: CheckedAnswer) -> str:
    """Return a sentence that says where a quote was found, or that it was not found."""
    if citation.verdict == "not_found":
        if checked.gone:
            words = _tr("citations", "Not found. Some files are no longer available: {files}")
            return words.format(files=", ".join(checked.gone))
        return _tr("citations", "Not found: none of the files contains these words.")
    found_at = places(citation)
    if citation.verdict == "elsewhere":
        words = _tr("citations", "Not where the answer says, but in {place}.").format(
            place=found_at
        )
    elif citation.verdict == "place_unchecked":
        words = _tr(
            "citations",
            "The words are in {place}. Hearth could not check whether the answer names that place.",
        ).format(place=found_at)
    else:
        words = _tr("citations", "Found in {place}.").format(place=found_at)
    return f"{words} {copy_problem(citation, checked)}".rstrip()


def places(citation: Citation) -> str:
    """Return the file and the places in which a quote was found, as text."""
    return ", ".join([isolated(citation.name), *map(_place_of, citation.spans)])


def copy_problem(citation: Citation, checked: CheckedAnswer) -> str:
    """Return a sentence on a problem with the copy of a quote's file; "" for none."""
    state = checked.copies.get(citation.document, "missing")
    if state == "changed":
        return _tr("citations", "The file has changed since it was read.")
    if state == "missing":
        return _tr("citations", "Hearth keeps only the text of this file, not a copy.")
    return ""


def _place_of(span: TextSpan) -> str:
    return place_words(span.place)
