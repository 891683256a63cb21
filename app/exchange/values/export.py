"""Writes a chat as a text that other programs and people can read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import StoredMessage, path_to
from app.chats.history.values.tree import first_words
from app.documents.citations.values import Citation
from app.documents.values.documents import Document, document_values, location_words
from app.markdown.blocks import SIGNS

ExportKind = Literal["md", "html", "pdf", "json"]
"""The format of an export, which is also the file name's ending."""

_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
_LONGEST_NAME = 80
_MOST_BYTES = 200
"""Most UTF-8 bytes of a name; systems allow 255, including the ending and a number."""
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=\.|$)")
"""Names that Windows reserves for devices, whatever follows a full stop."""
_SPEAKERS = {"user": "You", "assistant": "Assistant", "system": "System"}


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export.

    Attributes:
        reasoning: Include the reasoning; JSON always does.
        branches: Include all branches; JSON always does.
    """

    kind: ExportKind = "md"
    reasoning: bool = False
    branches: bool = False


@dataclass(frozen=True)
class ExportedChat:
    """A chat with all its messages, the name of its folder ("" for none), and its documents.

    Attributes:
        quotes: The checked quotes of answers about files, by message id.
    """

    chat: Chat
    messages: Sequence[StoredMessage]
    folder: str = ""
    documents: Sequence[Document] = ()
    quotes: Mapping[str, Sequence[Citation]] = field(default_factory=dict)


@dataclass(frozen=True)
class Strand:
    """Consecutive messages that are exported as one piece.

    Attributes:
        after: The beginning of the message that it branches off from; "" for the path that the chat
            shows, which is the first strand.
    """

    after: str
    messages: tuple[StoredMessage, ...]


def strands(chat: Chat, messages: Iterable[StoredMessage], *, branches: bool) -> tuple[Strand, ...]:
    """Return the path that a chat shows and, if wanted, every other branch from its fork on.

    Args:
        messages: The messages of every branch, in the order in which they were written.
    """
    everything = list(messages)
    path = path_to(everything, chat.leaf_id)
    found = [Strand("", path)]
    if not branches:
        return tuple(found)
    below: dict[str | None, list[StoredMessage]] = {}
    for message in everything:
        below.setdefault(message.parent_id, []).append(message)
    by_id = {message.id: message for message in everything}
    exported_ids = {message.id for message in path}
    for message in everything:
        if message.id in exported_ids:
            continue
        strand = [message]
        while following := below.get(strand[-1].id):
            strand.append(following[-1])
        exported_ids |= {message.id for message in strand}
        parent = by_id.get(message.parent_id or "")
        after = first_words(parent.text) if parent else "the beginning"
        found.append(Strand(after, tuple(strand)))
    return tuple(found)


def speaker(message: StoredMessage) -> str:
    """Return who speaks, and how the message ended if it is not complete."""
    state = "" if message.state == "complete" else f" ({message.state})"
    return f"{_SPEAKERS[message.role]}{state}"


def attached_words(message: StoredMessage) -> str:
    """Return a line with the files that go with a message; "" if there are none."""
    names = ", ".join(attachment.name for attachment in message.attachments)
    return f"Attached: {names}" if names else ""


_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def sign_of(quote: Citation, number: int) -> str:
    """Return the sign that links a quote in an answer to its line below, such as “✓²”."""
    return SIGNS[quote.verdict] + str(number).translate(_RAISED)


def verdict_words(quote: Citation) -> str:
    """Return where a quote was found in the files, and whether that is the place named."""
    if quote.verdict == "not_found":
        return "not found in the files"
    where = ", ".join((quote.name, *(location_words(span.place) for span in quote.spans)))
    if quote.verdict == "place_unchecked":
        return f"words found in {where}, but the named place could not be checked"
    return f"found in {where}" if quote.verdict == "found" else f"not there, but in {where}"


def failure_words(message: StoredMessage) -> str:
    """Return what happened to a failed answer, why, and what to do; "" if it did not fail."""
    failure = message.failure
    if message.state != "failed" or failure is None:
        return ""
    return " ".join(filter(None, (failure.what, failure.why, failure.do)))


def as_markdown(
    chat: Chat,
    messages: Iterable[StoredMessage],
    options: ExportOptions | None = None,
    quotes: Mapping[str, Sequence[Citation]] | None = None,
) -> str:
    """Return the messages that the chat shows, under headings, as Markdown.

    Args:
        messages: As for `strands`.
        quotes: As in `ExportedChat`.
    """
    options, quotes = options or ExportOptions(), quotes or {}
    parts = [f"# {chat.title}"]
    for number, strand in enumerate(strands(chat, messages, branches=options.branches)):
        if number:
            parts.append(f"---\n\n# Branch {number}, after “{strand.after}”")
        parts += [
            _message(message, options, quotes.get(message.id, ())) for message in strand.messages
        ]
    return "\n\n".join(parts) + "\n"


def as_json(
    chat: Chat,
    messages: Iterable[StoredMessage],
    folder: str = "",
    documents: Iterable[Document] = (),
) -> str:
    """Return the whole tree with every branch and every fact, as it is stored, as JSON.

    Args:
        folder: The name of the chat's folder.
        documents: The text of its attached files.
    """
    return json.dumps(_value(chat, messages, folder, documents), indent=2, ensure_ascii=False)


def all_as_json(
    chats: Iterable[tuple[Chat, Sequence[StoredMessage], str, Sequence[Document]]],
) -> str:
    """Return several chats as one JSON text, each as `as_json` writes it."""
    values = [_value(*chat) for chat in chats]
    return json.dumps({"format": "hearth-chats", "chats": values}, indent=2, ensure_ascii=False)


def file_name(title: str) -> str:
    """Turn a title into a file name that any system accepts, without an ending."""
    name = " ".join(_NOT_IN_NAMES.sub(" ", title).split())[:_LONGEST_NAME]
    name = name.encode("utf-8", "replace")[:_MOST_BYTES].decode("utf-8", "ignore").strip(" .…")
    if reserved := _RESERVED.match(name):
        name = f"{reserved.group()}_{name[reserved.end() :]}"
    return name or "Chat"


def _message(message: StoredMessage, options: ExportOptions, quotes: Sequence[Citation]) -> str:
    parts = [f"## {speaker(message)}"]
    if options.reasoning and message.reasoning.strip():
        lines = message.reasoning.strip().split("\n")
        parts.append("\n".join(f"> {line}".rstrip() for line in ("**Reasoning**", "", *lines)))
    parts += filter(None, [message.text.strip(), attached_words(message)])
    if quotes:
        listed = [
            f"- {sign_of(quote, at)} {_in_a_line(quote)}: {verdict_words(quote)}"
            for at, quote in enumerate(quotes, 1)
        ]
        parts.append("\n".join(("Quotes, held against the files:", "", *listed)))
    if failure := failure_words(message):
        parts.append(f"> {failure}")
    return "\n\n".join(parts).rstrip()


def _in_a_line(quote: Citation) -> str:
    return f"“{' '.join(quote.quote.split())}”"


def _value(
    chat: Chat, messages: Iterable[StoredMessage], folder: str, documents: Iterable[Document]
) -> dict[str, Any]:
    named = {"folder": folder} if folder else {}
    texts = [document_values(document) for document in documents]
    attached = {"documents": texts} if texts else {}
    message_values = [asdict(message) for message in messages]
    return {**asdict(chat), **named, **attached, "messages": message_values}
