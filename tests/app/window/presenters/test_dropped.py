"""Dropped files are known by their content, whatever their names are."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from app.window.presenters.dropped import kind_of
from app.window.values.dropped import Goal, Kind, Place, by_goal, goal_of
from tests.support.foreign_chats import chatgpt_chat, gpt4all_chat, write_jan
from tests.support.made_documents import archive, docx, paragraph


def safetensors() -> bytes:
    header = b'{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
    return struct.pack("<Q", len(header)) + header + b"\0" * 4


def made(folder: Path) -> dict[str, Kind]:
    """Make files and folders; return the kind of each by its name."""
    export = json.dumps([chatgpt_chat()])
    (folder / "GGUFs" / "inner").mkdir(parents=True)
    (folder / "GGUFs" / "inner" / "m.gguf").write_bytes(b"GGUF\3\0\0\0")
    (folder / "named only").mkdir()
    (folder / "named only" / "m.gguf").write_text("no model")
    (folder / "checkpoint").mkdir()
    (folder / "checkpoint" / "config.json").write_text("{}")
    (folder / "checkpoint" / "model.safetensors").write_bytes(safetensors())
    (folder / "chats").mkdir()
    (folder / "chats" / "readme.txt").write_text("My chats")
    (folder / "chats" / "all.json").write_text(export)
    write_jan(folder / "jan", new=False)
    (folder / "empty").mkdir()
    (folder / "a model").write_bytes(b"GGUF\3\0\0\0")
    (folder / "m.gguf.part1of2").write_bytes(b"more of a model")
    (folder / "text.gguf").write_text("no model")
    (folder / "w.safetensors").write_bytes(safetensors())
    (folder / "note.json").write_text('{"a": 1}')
    (folder / "export.json").write_text(export)
    (folder / "old.chat").write_bytes(gpt4all_chat())
    archive(folder / "export.zip", {"user.json": "{}", "conversations.json": export})
    whole = (folder / "export.zip").read_bytes()
    (folder / "torn.zip").write_bytes(whole[: len(whole) // 2])
    archive(folder / "photos.zip", {"a.txt": "a", "index.json": '{"a": 1}'})
    docx(folder / "letter.docx", paragraph("Dear Ada"))
    (folder / "letter.docx").rename(folder / "letter.zip")
    return {
        "GGUFs": "models",
        "named only": "folder",
        "checkpoint": "model",
        "chats": "chats",
        "jan": "chats",
        "empty": "folder",
        "a model": "model",
        "m.gguf.part1of2": "no_model",
        "text.gguf": "no_model",
        "w.safetensors": "weights",
        "note.json": "file",
        "export.json": "chats",
        "old.chat": "chats",
        "export.zip": "chats",
        "torn.zip": "chats",
        "photos.zip": "file",
        "letter.zip": "file",
        "gone.txt": "file",
    }


def test_files_and_folders_are_known_by_their_content(tmp_path: Path) -> None:
    expected = made(tmp_path)
    assert {name: kind_of(tmp_path / name) for name in expected} == expected


@pytest.mark.parametrize(
    ("kind", "chat", "chats", "models", "scratch"),
    [
        ("model", "models", "models", "models", "models"),
        ("models", "models", "models", "models", "models"),
        ("no_model", "models", "models", "models", "models"),
        ("weights", "attach", "models", "models", "attach"),
        ("chats", "chats", "chats", "chats", "attach"),
        ("folder", "collection", "chats", "models", "attach"),
        ("file", "attach", "chats", "models", "attach"),
    ],
)
def test_the_place_decides_where_the_content_does_not(
    kind: Kind, chat: Goal, chats: Goal, models: Goal, scratch: Goal
) -> None:
    places: tuple[Place, ...] = ("chat", "chats", "models", "scratch")
    assert [goal_of(kind, place) for place in places] == [chat, chats, models, scratch]


def test_files_that_are_dropped_together_stay_in_order() -> None:
    kinds: dict[Path, Kind] = {Path("b"): "file", Path("m"): "model", Path("a"): "file"}
    groups = by_goal(kinds, "chat")
    assert {goal: [*paths] for goal, paths in groups.items()} == {
        "attach": [Path("b"), Path("a")],
        "models": [Path("m")],
    }
