"""A chat as a text that other programs and people can read."""

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
"""The kind of an export, and the ending of the file's name."""

_NOT_IN_NAMES = re.compile(r'[\\/:*?"<>|\x00-\x1f\x7f]+')
_LONGEST_NAME = 80
_MOST_BYTES = 200
"""The longest name in UTF-8; systems allow 255, with the ending and a number."""
_RESERVED = re.compile(r"(?i)(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(?=\.|$)")
"""Names that Windows keeps for devices, whatever comes behind a full stop."""
_SPEAKERS = {"user": "You", "assistant": "Assistant", "system": "System"}


@dataclass(frozen=True)
class ExportOptions:
    """The options of an export. reasoning, branches: include them; JSON always has both."""

    kind: ExportKind = "md"
    reasoning: bool = False
    branches: bool = False


@dataclass(frozen=True)
class ExportedChat:
    """A chat with all its messages, the name of its folder ("" for none), and its documents.

    quotes: the checked quotes of answers about files, by the ids of the messages.
    """

    chat: Chat
    messages: Sequence[StoredMessage]
    folder: str = ""
    documents: Sequence[Document] = ()
    quotes: Mapping[str, Sequence[Citation]] = field(default_factory=dict)


@dataclass(frozen=True)
class Strand:
    """Messages that follow each other, to be exported as one piece.

    after: those that it branches off behind; "" for the chat's shown path, which is the first
    strand.
    """

    after: str
    messages: tuple[StoredMessage, ...]


def strands(chat: Chat, messages: Iterable[StoredMessage], *, branches: bool) -> tuple[Strand, ...]:
    """List the path that a chat shows and, if wanted, every other from where it branches off.

    messages: on every branch, in the order in which they were written.
    """
    everything = list(messages)
    shown = path_to(everything, chat.leaf_id)
    found = [Strand("", shown)]
    if not branches:
        return tuple(found)
    below: dict[str | None, list[StoredMessage]] = {}
    for message in everything:
        below.setdefault(message.parent_id, []).append(message)
    by_id = {message.id: message for message in everything}
    told = {message.id for message in shown}
    for message in everything:
        if message.id in told:
            continue
        strand = [message]
        while following := below.get(strand[-1].id):
            strand.append(following[-1])
        told |= {it.id for it in strand}
        parent = by_id.get(message.parent_id or "")
        after = first_words(parent.text) if parent else "the beginning"
        found.append(Strand(after, tuple(strand)))
    return tuple(found)


def speaker(message: StoredMessage) -> str:
    """Name who speaks, and how the message ended if not in the usual way."""
    state = "" if message.state == "complete" else f" ({message.state})"
    return f"{_SPEAKERS[message.role]}{state}"


def attached_words(message: StoredMessage) -> str:
    """Name the files that go with a message; "" where there are none."""
    names = ", ".join(it.name for it in message.attachments)
    return f"Attached: {names}" if names else ""


_RAISED: Final = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def sign_of(quote: Citation, number: int) -> str:
    """Return what leads from a quote in an answer to its line below it, as “✓²”."""
    return SIGNS[quote.verdict] + str(number).translate(_RAISED)


def verdict_words(quote: Citation) -> str:
    """Say where a quote was found in the files, and whether at the place that was named."""
    if quote.verdict == "not_found":
        return "not found in the files"
    where = ", ".join((quote.name, *(location_words(it.place) for it in quote.spans)))
    if quote.verdict == "place_unchecked":
        return f"words found in {where}, but the named place could not be checked"
    return f"found in {where}" if quote.verdict == "found" else f"not there, but in {where}"


def failure_words(message: StoredMessage) -> str:
    """Say why an answer failed: what happened, why, and what to do; "" where it did not."""
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
    """Write the messages that the chat shows, under headings. messages: as `strands` has them.

    quotes: as of `ExportedChat`.
    """
    options, quotes = options or ExportOptions(), quotes or {}
    parts = [f"# {chat.title}"]
    for number, strand in enumerate(strands(chat, messages, branches=options.branches)):
        if number:
            parts.append(f"---\n\n# Branch {number}, after “{strand.after}”")
        parts += [_message(it, options, quotes.get(it.id, ())) for it in strand.messages]
    return "\n\n".join(parts) + "\n"


def as_json(
    chat: Chat,
    messages: Iterable[StoredMessage],
    folder: str = "",
    documents: Iterable[Document] = (),
) -> str:
    """Write the whole tree with every branch and every fact, as it lies in the store.

    folder: the name of the one that the chat lies in. documents: the text of its attached files.
    """
    return json.dumps(_value(chat, messages, folder, documents), indent=2, ensure_ascii=False)


def all_as_json(
    chats: Iterable[tuple[Chat, Sequence[StoredMessage], str, Sequence[Document]]],
) -> str:
    """Write several chats as one text, each as `as_json` does."""
    values = [_value(*chat) for chat in chats]
    return json.dumps({"format": "hearth-chats", "chats": values}, indent=2, ensure_ascii=False)


def file_name(title: str) -> str:
    """Turn a title into the name of a file on any system, without an ending."""
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
            f"- {sign_of(it, at)} {_in_a_line(it)}: {verdict_words(it)}"
            for at, it in enumerate(quotes, 1)
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
    told = [asdict(message) for message in messages]
    return {**asdict(chat), **named, **attached, "messages": told}
