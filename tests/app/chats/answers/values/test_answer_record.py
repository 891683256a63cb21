"""The record of how an answer was requested: writing it and reading it again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from app.chats.answers.values.answer_record import (
    AnswerRecord,
    FileMark,
    as_json,
    differences,
    from_json,
    mark_of,
    prompt_hash,
)
from engines.types import Medium, Message

ASKED = AnswerRecord(
    model="m1", name="A model", files=(FileMark(5, 7),), sha256="ab", seed=7, context=4096,
    settings={"temperature": 0.7, "system_prompt": "Sei kurz."}, stop=("END",), prompt="h",
    hearth="1",
)  # fmt: skip


def test_it_comes_back_as_it_was_kept() -> None:
    assert from_json(as_json(ASKED)) == ASKED


def test_nothing_kept_is_nothing_known() -> None:
    assert from_json("") is None


def test_what_a_later_hearth_adds_is_left_aside() -> None:
    values = {**json.loads(as_json(ASKED)), "moon": "full"}
    assert from_json(json.dumps(values)) == ASKED


def test_what_an_older_hearth_did_not_keep_has_a_default() -> None:
    assert from_json('{"model": "m", "seed": 3}') == AnswerRecord(model="m", seed=3)


def test_a_file_is_known_by_size_and_time(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"12345")
    assert mark_of(path) == FileMark(5, path.stat().st_mtime_ns)


def test_the_hash_is_of_what_was_shown_as_well() -> None:
    words = Message("user", "a")
    shown = [
        replace(words, media=(Medium("image", b"", digest),)) for digest in ("0" * 64, "1" * 64)
    ]
    assert len({prompt_hash((it,)) for it in (words, *shown)}) == 3


def test_the_hash_is_of_roles_and_words() -> None:
    one = prompt_hash((Message("user", "a"), Message("assistant", "b")))
    assert one == prompt_hash((Message("user", "a"), Message("assistant", "b", pinned=True)))
    assert one != prompt_hash((Message("user", "ab"), Message("assistant", "")))
    assert one != prompt_hash((Message("assistant", "a"), Message("user", "b")))
    assert prompt_hash((Message("user", "\ud800"),))


def test_what_differs_is_said() -> None:
    assert differences(ASKED, ASKED) == ()
    other = AnswerRecord(prompt="other", context=1, hearth="1")
    assert differences(ASKED, other) == ("the conversation before it", "the size of the context")
