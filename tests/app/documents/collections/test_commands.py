"""`hearth docs`: collections in the terminal, and answers that are grounded in them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from app.assistants.values.assistants import NewChat
from app.base.db import Database
from app.base.folder import DataFolder
from app.chats.history.store.chat_settings import ChatSettingsStore
from app.chats.history.store.chats import ChatStore
from tests.support.made_documents import pdf
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    (folder / "food").mkdir(parents=True)
    (folder / "lease.md").write_text("# Terms\n\nNothing.\n\n# Rent\n\nThe rent is 950 euros.")
    (folder / "food" / "bread.txt").write_text("Zum Frühstück gibt es Brot.", encoding="utf-8")
    (folder / "bad.pdf").write_bytes(b"%PDF-1.4 nothing")
    return folder


@pytest.fixture
def lease(hearth: Hearth, docs: Path, capsys: Capture) -> str:
    assert hearth("docs", "add", "Lease", str(docs), "--quiet") == 0
    capsys.readouterr()
    return "Lease"


def value(capsys: Capture) -> Any:
    return json.loads(capsys.readouterr().out)


def test_add_waits_until_all_is_read_and_names_what_could_not_be(
    hearth: Hearth, docs: Path, capsys: Capture
) -> None:
    assert hearth("docs", "add", "Lease", str(docs)) == 0
    said = capsys.readouterr()
    assert said.out.startswith("3 files, 1 unreadable, 3 passages")
    assert "bad.pdf cannot be read. The file is damaged" in said.err
    assert "Only words are searched. There is no embedding model on this computer yet." in said.err


def test_add_is_one_json_value(hearth: Hearth, docs: Path, capsys: Capture) -> None:
    assert hearth("docs", "add", "Lease", str(docs), "--json") == 0
    found = value(capsys)
    assert (found["name"], found["files"], found["waiting"]) == ("Lease", 3, 0)
    assert [it["name"] for it in found["unreadable_files"]] == ["bad.pdf"]


def test_in_the_background_nothing_is_read_until_the_next_add(
    hearth: Hearth, docs: Path, capsys: Capture
) -> None:
    assert hearth("docs", "add", "Lease", str(docs), "--background") == 0
    assert "They are read while the window is open" in capsys.readouterr().err
    assert hearth("docs", "search", "Lease", "rent") == 0
    assert "`hearth docs add Lease` continues" in capsys.readouterr().err
    assert hearth("docs", "search", "Lease", "rent", "--json") == 0
    assert value(capsys) == []
    assert hearth("docs", "add", "Lease") == 0
    assert "3 passages" in capsys.readouterr().out


def test_what_is_not_there_makes_no_collection(hearth: Hearth, capsys: Capture) -> None:
    assert hearth("docs", "add", "Lease", "/nowhere/at/all", "--json") == 1
    assert value(capsys)["error"]["code"] == "path_not_found"
    assert hearth("docs", "add", "Lease", "--json") == 1
    assert value(capsys)["error"]["code"] == "collection_not_found"
    assert hearth("docs", "list", "--json") == 0
    assert value(capsys) == []


def test_a_search_says_where_and_by_what_it_has_found(
    hearth: Hearth, lease: str, capsys: Capture
) -> None:
    assert hearth("docs", "search", lease, "How", "high", "is", "the", "rent?", "--json") == 0
    (found,) = value(capsys)
    assert (found["file"], found["page"], found["by"]) == ("lease.md", 2, ["text"])
    whole = "Terms\n\nNothing.\n\nRent\n\nThe rent is 950 euros."
    assert whole[found["start"] : found["end"]] == found["text"]
    assert found["score"] > 0
    assert hearth("docs", "search", lease, "rent") == 0
    assert capsys.readouterr().out.startswith("lease.md, section 2 (text)\nRent")


def test_a_quote_is_checked(hearth: Hearth, lease: str, capsys: Capture) -> None:
    assert hearth("docs", "check", lease, "--quote", "rent is 950 euros", "--json") == 0
    found = value(capsys)
    whole = "Terms\n\nNothing.\n\nRent\n\nThe rent is 950 euros."
    assert (found["found"], found["file"], found["page"]) == (True, "lease.md", 2)
    assert whole[found["start"] : found["end"]] == "rent is 950 euros"
    assert hearth("docs", "check", lease, "--quote", "rent is 960 euros", "--json") == 0
    found = value(capsys)
    assert (found["found"], found["file"]) == (False, None)
    assert hearth("docs", "check", lease, "--quote", "rent is 960 euros") == 0
    assert capsys.readouterr().out == "The collection does not contain these words.\n"


def test_collections_are_listed_shown_paused_and_removed(
    hearth: Hearth, lease: str, docs: Path, capsys: Capture
) -> None:
    assert hearth("docs", "list") == 0
    assert "Lease  3 files" in capsys.readouterr().out
    assert hearth("docs", "show", lease, "--json") == 0
    shown = value(capsys)
    assert [it["state"] for it in shown["files"]] == ["unreadable", "read", "read"]
    assert shown["paths"] == [str(docs)]
    assert hearth("docs", "show", lease) == 0
    assert "food/bread.txt" in capsys.readouterr().out
    assert hearth("docs", "pause", lease) == 0
    assert capsys.readouterr().out == "“Lease” is paused.\n"
    assert hearth("docs", "resume", lease, "--json") == 0
    assert value(capsys)["paused"] is False
    assert hearth("docs", "rm", lease, str(docs)) == 0
    assert capsys.readouterr().out.startswith("0 files")
    assert hearth("docs", "rm", lease) == 0
    assert hearth("docs", "search", lease, "rent") == 1
    assert (docs / "lease.md").exists()


def test_an_answer_is_grounded_in_a_collection(
    hearth: Hearth, lease: str, engine: ScriptedEngine, capsys: Capture
) -> None:
    quotes = "It is “rent is 950 euros” (lease.md, section 2), not “rent is 960 euros” (lease.md)."
    engine.pieces = [quotes]
    assert hearth("ask", "How high is the rent?", "--docs", lease, "--json") == 0
    told = value(capsys)
    assert "The rent is 950 euros." in engine.requests[-1].messages[-1].text
    (passage,) = told["passages"]
    assert (passage["file"], passage["page"]) == ("lease.md", 2)
    assert "950 euros" in passage["text"]
    true, false = told["citations"]
    assert (true["quote"], true["found"]) == ("rent is 950 euros", True)
    assert (true["file"], true["page"]) == ("lease.md", 2)
    whole = "Terms\n\nNothing.\n\nRent\n\nThe rent is 950 euros."
    assert whole[true["start"] : true["end"]] == "rent is 950 euros"
    assert (false["found"], false["file"], false["start"]) == (False, None, None)
    assert hearth("ask", "Hello", "--docs", "nothing", "--json") == 1


def test_a_chat_is_grounded_in_its_own_collections(
    hearth: Hearth, lease: str, engine: ScriptedEngine
) -> None:
    database = Database(DataFolder.default().database)
    question, _ = ChatStore(database).ask(None, "Hi")
    store = ChatSettingsStore(database)
    (collection,) = (it["id"] for it in _collections(database))
    store.save(question.chat_id, NewChat(collections=(collection, "one that is gone")))
    database.close()
    assert hearth("ask", "How high is the rent?", "--chat", question.chat_id) == 0
    assert "The rent is 950 euros." in engine.requests[-1].messages[-1].text
    assert hearth("ask", "And who are you?", "--chat", question.chat_id) == 0
    assert "The rent is 950 euros." in engine.requests[-1].messages[-3].text


def _collections(database: Database) -> list[Any]:
    with database.read() as db:
        return db.execute("SELECT id FROM collections").fetchall()


@pytest.fixture
def scans(hearth: Hearth, tmp_path: Path, capsys: Capture) -> str:
    folder = tmp_path / "scans"
    folder.mkdir()
    pdf(folder / "scan.pdf", [[], []])
    pdf(folder / "half.pdf", [["The rent is 950 euros."], []])
    (folder / "empty.txt").write_bytes(b"")
    (folder / "whole.txt").write_text("The deposit is 2850 euros.")
    assert hearth("docs", "add", "Scans", str(folder)) == 0
    said = capsys.readouterr()
    assert "scan.pdf: not read: a scan without text.\n" in said.err
    assert "half.pdf: read in part: some pages are pictures.\n" in said.err
    assert "empty.txt: no text in it.\n" in said.err
    return "Scans"


def test_scans_half_scans_and_empty_files_do_not_count_as_read(
    hearth: Hearth, scans: str, capsys: Capture
) -> None:
    assert hearth("docs", "list") == 0
    words = "4 files, 1 scans without text, 1 with pages without text, 1 without text"
    assert words in capsys.readouterr().out
    assert hearth("docs", "list", "--json") == 0
    (listed,) = value(capsys)
    counts = ("files", "unreadable", "scans", "partly_read", "empty", "not_all_read")
    assert [listed[it] for it in counts] == [4, 0, 1, 1, 1, 3]
    assert hearth("docs", "show", scans, "--json") == 0
    states = {it["name"]: it["state"] for it in value(capsys)["files"]}
    assert states == {
        "scan.pdf": "scan",
        "half.pdf": "partly_read",
        "empty.txt": "empty",
        "whole.txt": "read",
    }


def test_words_that_are_not_found_may_stand_in_a_scan(
    hearth: Hearth, scans: str, capsys: Capture
) -> None:
    counts = "1 scans without text, 1 with pages without text, 1 without text"
    said = f"Some files were not read completely: {counts}."
    assert hearth("docs", "check", scans, "--quote", "a bicycle in the yard") == 0
    assert said in capsys.readouterr().err
    assert hearth("docs", "search", scans, "deposit") == 0
    assert said in capsys.readouterr().err


def test_an_answer_says_what_of_its_collections_is_not_read(
    hearth: Hearth, scans: str, engine: ScriptedEngine, capsys: Capture
) -> None:
    engine.pieces = ["Yes."]
    assert hearth("ask", "How high is the rent?", "--docs", scans) == 0
    words = "Scans: 1 scans without text, 1 with pages without text, 1 without text."
    assert words in capsys.readouterr().err
    assert hearth("ask", "How high is the rent?", "--docs", scans, "--json") == 0
    told = value(capsys)
    assert told["collections"] == [
        {"name": scans, "files": 4, "waiting": 0, "unreadable": 0}
        | {"scans": 1, "partly_read": 1, "empty": 1}
    ]
    (file,) = told["files"]
    assert (file["name"], file["reading"]) == ("half.pdf", "partly_read")
    assert "half.pdf: page 2 is a picture without text." in engine.requests[-1].messages[-1].text


def test_an_attached_scan_is_named_in_the_answer(
    hearth: Hearth, tmp_path: Path, engine: ScriptedEngine, capsys: Capture
) -> None:
    engine.pieces = ["Yes."]
    scan, empty = pdf(tmp_path / "scan.pdf", [[]]), tmp_path / "empty.txt"
    empty.write_bytes(b"")
    files = ("--file", str(scan), "--file", str(empty))
    assert hearth("ask", "What is it?", *files) == 0
    said = capsys.readouterr().err
    assert "scan.pdf: its pages are pictures without text." in said
    assert "empty.txt: there is no text in it." in said
    assert hearth("ask", "What is it?", *files, "--json") == 0
    assert [it["reading"] for it in value(capsys)["files"]] == ["scan", "empty"]
