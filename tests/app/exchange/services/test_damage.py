"""Importing damaged files of every program: no error, and no invented or partial chats."""

from __future__ import annotations

import json
import random
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from app.chats.history.values.conversation import path_to
from app.exchange.services.reading import read_files
from app.exchange.values.found import FileFound
from app.exchange.values.report import report_text, reports
from app.exchange.values.torn_zip import torn_members
from engines.cancel import CancelToken
from tests.support.foreign_chats import (
    chatgpt_chat,
    gpt4all_chat,
    lm_studio_chat,
    open_webui_chat,
    write_jan,
    write_ollama,
)

ROUNDS = 60
ODD: tuple[Any, ...] = (
    None, True, -1, 1e308, -1e308, 10**400, float("nan"), float("inf"), "", "\ud800", "a\0b",
    [], {}, [None] * 50, {"a": {"b": []}}, -5e9, "2025-13-45", "0001-01-01", "q1", "m1", "a1",
    "\ue200cite", '<details type="reasoning">', "<think>",
)  # fmt: skip
JSON: dict[str, Callable[[], Any]] = {
    "chatgpt": lambda: [chatgpt_chat("a", "One"), chatgpt_chat("b", "Two")],
    "lm_studio": lm_studio_chat,
    "open_webui": lambda: [open_webui_chat()],
}


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield the place of everything in a value, as its container and its key or index there."""
    inner = value if isinstance(value, dict) else range(len(value))
    for key in list(inner):
        yield value, key
        if isinstance(value[key], dict | list):
            yield from places(value[key])


def spoil(value: Any, chance: random.Random) -> Any:
    """Remove, replace or move a few values."""
    for _ in range(chance.randint(1, 4)):
        every = list(places(value))
        if not every:
            break
        (holder, key), (other, place) = chance.choice(every), chance.choice(every)
        match chance.randrange(3):
            case 0:
                del holder[key]
            case 1:
                holder[key] = chance.choice(ODD)
            case _:
                holder[key] = json.loads(json.dumps(other[place]))
    return value


def torn(data: bytes, chance: random.Random) -> bytes:
    """Return the data cut short, with a gap, or with some bytes changed."""
    first, last = sorted(chance.randrange(len(data)) for _ in "ab")
    match chance.randrange(3):
        case 0:
            return data[:last]
        case 1:
            return data[:first] + data[last:]
    changed = bytearray(data)
    for _ in range(chance.choice((1, 2, 20))):
        changed[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(changed)


def check(path: Path) -> None:
    files: list[FileFound] = list(read_files([path], CancelToken()))
    (said,) = reports(files, {})
    report_text((said,), done=True).encode()
    (file,) = files
    assert said.new + said.here == len(file.chats)
    assert said.new or file.chats or file.not_read
    for chat in file.chats:
        known: set[str] = set()
        for message in chat.messages:
            assert message.parent_id is None or message.parent_id in known
            assert message.id not in known
            assert message.text.strip() or message.reasoning.strip()
            assert 0 < message.created < 4.2e9
            message.text.encode()
            known.add(message.id)
        assert chat.chat.leaf_id in known
        assert path_to(chat.messages, chat.chat.leaf_id)


@pytest.mark.parametrize("name", JSON)
@pytest.mark.parametrize("seed", range(3))
def test_spoilt_values_are_borne(name: str, seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    path = tmp_path / "chats.json"
    for _ in range(ROUNDS):
        text = json.dumps(spoil(JSON[name](), chance)).encode()
        path.write_bytes(torn(text, chance) if chance.random() < 0.3 else text)
        check(path)


@pytest.mark.parametrize("seed", range(3))
def test_torn_binary_files_are_borne(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    jan = write_jan(tmp_path, new=True)
    lines = (jan / "messages.jsonl").read_bytes()
    whole = {
        "ollama.db": write_ollama(tmp_path / "db.sqlite").read_bytes(),
        "gpt4all.chat": gpt4all_chat(12),
        "old.chat": gpt4all_chat(3),
    }
    for _ in range(ROUNDS):
        for name, data in whole.items():
            (tmp_path / name).write_bytes(torn(data, chance))
            check(tmp_path / name)
        (jan / "messages.jsonl").write_bytes(torn(lines, chance))
        check(jan)


def test_members_before_a_damaged_place_in_a_torn_archive_stay() -> None:
    pack = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    body = pack.compress(random.Random(1).randbytes(50_000)) + pack.flush()
    head = struct.pack("<4sHHHHHIIIHH", b"PK\x03\x04", 20, 0, 8, 0, 0, 0, len(body), 0, 1, 0) + b"a"
    found = list(torn_members((head + body) * 3 + head + body[:20_000], 10**9))
    assert [len(content) for _, content in found[:3]] == [50_000] * 3
    assert 10_000 < len(found[3][1]) < 50_000
    assert len(list(torn_members((head + body) * 3, 70_000))) == 2


ENDLESS = """CREATE VIEW messages AS
    WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n)
    SELECT id, 'a' AS chat_id, 'user' AS role, 'b' AS content FROM n"""
PLAIN = "CREATE TABLE messages (id, chat_id, role, content)"
LARGE = "CREATE TABLE chats (id, title AS (hex(zeroblob(100000000))))"


@pytest.mark.parametrize(
    ("chats", "messages"), [("CREATE TABLE chats (id, title)", ENDLESS), (LARGE, PLAIN)]
)
def test_a_database_that_makes_up_its_rows_is_not_read(
    tmp_path: Path, chats: str, messages: str
) -> None:
    path = tmp_path / "db.sqlite"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute(chats)
        db.execute(messages)
        db.execute("INSERT INTO chats (id) VALUES ('a')")
    (found,) = read_files([path], CancelToken())
    assert not found.chats
    assert found.not_read
