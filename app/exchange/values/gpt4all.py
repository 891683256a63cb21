"""Chats of GPT4All: a binary file `gpt4all-….chat` for each chat, written with Qt's QDataStream.

They follow `Chat::deserialize`, `ChatLLM::deserialize`, `ChatModel::deserialize` and `ChatItem` in
gpt4all-chat/src of nomic-ai/gpt4all; versions 1 to 12, the last, and 0, which had no header.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

from app.exchange.values import wording
from app.exchange.values.found import Broken, FoundChat, FoundMessage, FoundRole
from app.exchange.values.json_values import as_text, as_time
from engines.sentences import N_

_NULL = 0xFFFFFFFF
_MOST_ITEMS = 100_000
_INT, _UINT, _LONG, _ULONG, _DOUBLE = (struct.Struct(f">{code}") for code in "iIqQd")
_BOOL, _NUMBER, _UNSIGNED, _REAL, _STRING = 1, 2, 3, 6, 10
"""Types of QVariant."""


class QtStream:
    """Reads data that Qt's QDataStream wrote (big-endian, as of Qt 6.2), with every length limited.

    Every method raises Broken if the data ends early or makes no sense. Qt's documentation
    describes the format in “Serializing Qt Data Types”.
    """

    def __init__(self, data: bytes, place: int = 0) -> None:
        self._data = data
        self._place = place

    def skip(self, count: int) -> None:
        """Skip some bytes."""
        self._bytes(count)

    def flag(self) -> bool:
        """Read a bool of one byte."""
        return self._bytes(1) != b"\0"

    def int32(self) -> int:
        """Read a signed number of four bytes."""
        return int(_INT.unpack(self._bytes(4))[0])

    def uint32(self) -> int:
        """Read an unsigned number of four bytes."""
        return int(_UINT.unpack(self._bytes(4))[0])

    def int64(self) -> int:
        """Read a signed number of eight bytes."""
        return int(_LONG.unpack(self._bytes(8))[0])

    def uint64(self) -> int:
        """Read an unsigned number of eight bytes."""
        return int(_ULONG.unpack(self._bytes(8))[0])

    def count(self) -> int:
        """Read the length of a list that is stored as `qsizetype`."""
        return self._sane(self.int64())

    def count32(self) -> int:
        """Read the length of a list that is stored as `int`."""
        return self._sane(self.int32())

    def data(self) -> bytes:
        """Read a QByteArray, or the address of a QUrl."""
        length = self.uint32()
        return b"" if length == _NULL else self._bytes(length)

    def text(self) -> str:
        """Read a QString; "" if it is null."""
        length = self.uint32()
        return "" if length == _NULL else self._bytes(length).decode("utf-16-be", "replace")

    def texts(self) -> list[str]:
        """Read a list of QStrings."""
        count = self.uint32()
        return [] if count == _NULL else [self.text() for _ in range(self._sane(count))]

    def variant(self) -> None:
        """Skip a QVariant of a simple type."""
        kind = self.uint32()
        self.flag()
        match kind:
            case 0:
                return
            case _ if kind == _BOOL:
                self.flag()
            case _ if kind in (_NUMBER, _UNSIGNED):
                self.uint32()
            case _ if kind == _REAL:
                self.skip(_DOUBLE.size)
            case _ if kind == _STRING:
                self.text()
            case _:
                raise Broken(N_("It contains a value of an unknown kind."))

    def _sane(self, count: int) -> int:
        if not 0 <= count <= _MOST_ITEMS:
            raise Broken(N_("Its data is damaged: a list has an impossible length."))
        return count

    def _bytes(self, count: int) -> bytes:
        end = self._place + count
        if count < 0 or end > len(self._data):
            raise Broken(N_("The file ends too early."))
        data = self._data[self._place : end]
        self._place = end
        return data


SOURCE = "GPT4All"
_MAGIC = bytes.fromhex("F5D553CC")
_NEWEST = 12
_DEEPEST = 8
_ROLES: dict[str, FoundRole] = {"Prompt: ": "user", "Response: ": "assistant", "System: ": "system"}
_RESPONSE = "Response: "


def is_chat(data: bytes) -> bool:
    """Return whether data is a file of GPT4All, by its first bytes.

    Version 0 has no header and begins with its creation time.
    """
    if len(data) < 16:
        return False
    if data.startswith(_MAGIC):
        return True
    # 1 March 2023 was before the first GPT4All Chat, 2025 after the last file without a header.
    created = int(struct.unpack_from(">q", data)[0])
    return 1_677_628_800 < created < 1_735_689_600


def read(data: bytes) -> FoundChat:
    """Read one file; if it is truncated, keep the messages before that. Raises Broken."""
    version, place = 0, 0
    if data.startswith(_MAGIC):
        version, place = struct.unpack_from(">i", data, 4)[0], 8
    if not 0 <= version <= _NEWEST:
        raise Broken(
            N_(
                "It has version {version}; Hearth reads versions up to {newest}.",
                version=version,
                newest=_NEWEST,
            )
        )
    stream = QtStream(data, place)
    created = as_time(stream.int64())
    name, title = stream.text(), stream.text()
    stream.text()  # the user's name
    model = stream.text()
    if version >= 3:
        stream.texts()  # collections of documents
    if version < 11:
        _pass_state(stream, version)
    items, broke_off = _items(stream, version)
    return FoundChat(
        source=SOURCE,
        id=as_text(name),
        title=as_text(title),
        created=created,
        updated=None,
        messages=tuple(_messages(items, model)),
        damage=(N_("It breaks off; the messages before that were read."),) if broke_off else (),
    )


@dataclass
class _Item:
    name: str
    value: str
    stopped: bool = False
    rating: int = 0
    seconds: float = 0.0
    files: list[str] = field(default_factory=list)
    below: list[_Item] = field(default_factory=list)


def _pass_state(stream: QtStream, version: int) -> None:
    """Skip the state that the model had computed, because Hearth cannot use it."""
    has_cache = stream.flag() if version >= 6 else True
    if version >= 2:
        stream.int32()  # kind of model
        stream.int32()  # version of the state
    stream.text()
    stream.text()
    stream.uint32()  # tokens
    if not has_cache:
        return
    if version < 4:
        stream.uint32()
    stream.uint32()
    if version >= 7:
        stream.uint32()
    if version < 9:
        stream.skip(stream.uint64() * 4)
    stream.skip(stream.uint64() * 4)
    stream.data()


def _items(stream: QtStream, version: int) -> tuple[list[_Item], bool]:
    """Return the complete items, and whether there were more."""
    items: list[_Item] = []
    for _ in range(stream.count32()):
        try:
            items.append(_item(stream, version))
        except Broken:
            if not items:
                raise
            return items, True
    return items, False


def _item(stream: QtStream, version: int) -> _Item:
    if version < 12:
        stream.int32()
    item = _Item(stream.text(), stream.text())
    if item.name not in _ROLES:
        raise Broken(N_("Its data is damaged: a message has no author."))
    if version < 10:
        stream.text()
    stream.text()  # the answer that the user suggested instead
    stream.flag()
    item.stopped = stream.flag()
    item.rating = int(stream.flag()) - int(stream.flag())
    if version >= 11 and item.name == _RESPONSE:
        stream.flag()
    _pass_sources(stream, version)
    if version >= 10:
        for _ in range(stream.count()):
            address = stream.data().decode("utf-8", "replace")
            stream.data()
            item.files.append(address.rsplit("/", 1)[-1])
    if version >= 12:
        item.below = [_piece(stream, 0) for _ in range(stream.count())]
    return item


def _pass_sources(stream: QtStream, version: int) -> None:
    """Skip the excerpts of the user's documents that went into an answer."""
    if version >= 8:
        for _ in range(stream.count()):
            for _ in range(7):
                stream.text()
            stream.skip(12)
    elif version >= 3:
        stream.text()
        stream.texts()


def _piece(stream: QtStream, depth: int) -> _Item:
    """Read a part of an answer, such as its text before a tool call, or its reasoning."""
    if depth > _DEEPEST:
        raise Broken(N_("Its data is nested too deep."))
    item = _Item(stream.text(), stream.text())
    if item.name == "ToolCall: ":
        stream.text()
        for _ in range(stream.count()):
            stream.text()
            stream.int32()
            stream.variant()
        stream.text()
        stream.int32()
        stream.text()
    elif item.name == "Think: ":
        item.seconds = stream.int32() / 1000
    elif item.name not in (_RESPONSE, "Text: ", "ToolResponse: "):
        raise Broken(N_("Its data is damaged: a part of a message has no kind."))
    item.below = [_piece(stream, depth + 1) for _ in range(stream.count())]
    return item


def _messages(items: list[_Item], model: str) -> list[FoundMessage]:
    found: list[FoundMessage] = []
    for place, item in enumerate(items):
        pieces = _flat(item.below)
        texts = [piece.value for piece in pieces if piece.name in ("Text: ", _RESPONSE)]
        code = [wording.fenced(piece.value) for piece in pieces if piece.name == "ToolCall: "]
        thoughts = [
            wording.without_reasoning(piece.value) for piece in pieces if piece.name == "Think: "
        ]
        text, inline = wording.without_reasoning(as_text(item.value))
        parts = [*map(wording.file, item.files), *texts, *code, text]
        reasoning = [as_text(parts or text) for text, parts in thoughts]
        found.append(
            FoundMessage(
                id=str(place),
                parent=found[-1].id if found else None,
                role=_ROLES[item.name],
                text=as_text("\n\n".join(filter(None, parts))),
                reasoning="\n\n".join(filter(None, [*reasoning, inline])),
                reasoning_s=sum(piece.seconds for piece in pieces),
                model=as_text(model) if item.name == _RESPONSE else "",
                rating=item.rating,
                stopped=item.stopped,
                tools=sum(piece.name == "ToolResponse: " for piece in pieces),
            )
        )
    return found


def _flat(items: list[_Item]) -> list[_Item]:
    return [found for item in items for found in (item, *_flat(item.below))]
