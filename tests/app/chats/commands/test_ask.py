"""`hearth ask`: its options, and its output, which is always a single JSON value with --json."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.errors import DiskFull
from app.base.folder import DataFolder
from app.chats.history.store.chats import ChatStore
from app.chats.history.values.conversation import StoredMessage
from engines.types import LlamaPlan, MtpReport
from tests.support.made_documents import locked_pdf, pdf
from tests.support.made_media import two_colours, with_metadata, written
from tests.support.made_senses import qwen3vl_projector, write_qwen3vl
from tests.support.scripted import NO_DRAFTS, ScriptedEngine
from tests.support.terminal import Hearth

RUNS = MtpReport("auto", True, "MTP on: 2 tokens ahead", "drafter", 2, 120, 81, 1.4, 1.5)


@pytest.mark.parametrize(
    ("words", "mtp", "depth"),
    [
        ((), "auto", None),
        (("--mtp", "off"), "off", None),
        (("--mtp", "on"), "on", None),
        (("--depth", "3"), "on", 3),
        (("--mtp", "auto", "--depth", "8"), "auto", 8),
        (("--mtp", "on", "--depth", "1"), "on", 1),
    ],
)
def test_mtp_and_depth_reach_the_engine(
    hearth: Hearth, engine: ScriptedEngine, words: tuple[str, ...], mtp: str, depth: int | None
) -> None:
    assert hearth("ask", "Hi", *words) == 0
    assert (engine.requests[-1].mtp, engine.requests[-1].depth) == (mtp, depth)
    assert engine.requests[-1].chat is None


@pytest.mark.parametrize(
    "words",
    [
        ("--depth", "0"),
        ("--depth", "9"),
        ("--depth", "-1"),
        ("--depth", "two"),
        ("--mtp", "off", "--depth", "2"),
        ("--mtp", "sometimes"),
    ],
)
def test_a_depth_that_cannot_be_is_wrong_usage(
    hearth: Hearth,
    engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    assert hearth("ask", "Hi", *words, "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"
    assert engine.requests == []


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--depth", "two"), "--depth: two is not a whole number."),
        (("--max-tokens", "x"), "--max-tokens: x is not a whole number."),
        (("--temperature", "nan"), "--temperature: nan: It should be a number."),
        (("--temperature", "-1"), "--temperature: -1: It should be at least 0."),
        (("--temperature", "warm"), "--temperature: warm: It should be a number."),
        (("--top-p", "7"), "--top-p: 7: It should be at most 1."),
    ],
)
def test_a_number_that_cannot_be_is_told_in_words(
    hearth: Hearth,
    engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    says: str,
) -> None:
    assert hearth("ask", "Hi", *words) == 2
    assert says in capsys.readouterr().err
    assert engine.requests == []


def test_the_settings_are_the_default(hearth: Hearth, engine: ScriptedEngine) -> None:
    assert hearth("settings", "set", "mtp", "off") == 0
    hearth("ask", "Hi")
    hearth("ask", "Hi", "--mtp", "on")
    assert [request.mtp for request in engine.requests] == ["off", "on"]


def test_the_switch_of_a_chat_comes_before_the_settings(
    hearth: Hearth, engine: ScriptedEngine
) -> None:
    DataFolder.default().prepare()
    database = Database(DataFolder.default().database)
    _, answer = ChatStore(database).ask(None, "Hello", "off")
    database.close()
    assert hearth("ask", "Hi", "--chat", answer.chat_id) == 0
    assert hearth("ask", "Hi", "--chat", answer.chat_id, "--mtp", "on") == 0
    assert [request.mtp for request in engine.requests] == ["off", "on"]
    assert {request.chat for request in engine.requests} == {answer.chat_id}


def test_json_says_all_of_mtp(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.reports = [RUNS]
    assert hearth("ask", "Hi", "--json") == 0
    assert json.loads(capsys.readouterr().out)["mtp"] == {
        "mode": "auto",
        "active": True,
        "reason": "MTP on: 2 tokens ahead",
        "kind": "drafter",
        "depth": 2,
        "drafted": 120,
        "accepted": 81,
        "gain": 1.4,
        "bound": 1.5,
    }


def test_a_note_says_what_mtp_did_or_why_it_did_not(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    hearth("ask", "Hi")
    assert capsys.readouterr() == ("Hello there\n", "")
    hearth("ask", "Hi", "--mtp", "on")
    assert capsys.readouterr().err == f"{NO_DRAFTS}\n"
    engine.reports = [RUNS]
    hearth("ask", "Hi")
    assert capsys.readouterr().err == f"{RUNS.reason}\n"
    hearth("ask", "Hi", "--mtp", "off")
    assert capsys.readouterr().err == ""
    hearth("ask", "Hi", "--quiet")
    assert capsys.readouterr() == ("Hello there\n", "")


def test_a_grammar_is_read_from_its_file(
    hearth: Hearth, engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grammar = tmp_path / "yes.gbnf"
    grammar.write_text('root ::= "yes"')
    assert hearth("ask", "Hi", "--grammar", str(grammar)) == 0
    assert engine.requests[-1].sampling.grammar == 'root ::= "yes"'
    capsys.readouterr()
    assert hearth("ask", "Hi", "--grammar", str(tmp_path / "gone"), "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "file_not_text"


def test_files_go_with_the_question(
    hearth: Hearth, engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pdf(tmp_path / "oven.pdf", [["The oven takes 250 degrees."], ["The end."]])
    assert hearth("ask", "How hot?", "--file", str(path), "--json") == 0
    told = engine.requests[-1].messages[-1].text
    assert "oven.pdf, page 1:\n```\nThe oven takes 250 degrees.\n```" in told
    assert told.endswith("\n\nHow hot?")
    (source,) = json.loads(capsys.readouterr().out)["sources"]
    assert (source["origin"], source["name"], source["place"]) == ("file", "oven.pdf", 0)
    assert not DataFolder.default().attachments.exists(), "no chat was saved"


def test_a_file_in_which_nothing_matches_is_named(
    hearth: Hearth, engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.context = 2000
    path = tmp_path / "book.md"
    path.write_text("\n\n".join(f"# Part {n}\n\n" + f"Bread {n}. " * 60 for n in range(40)))
    note = "book.md: nothing in it matches the question, so only its beginning is included."
    assert hearth("ask", "Xyzzy?", "--file", str(path)) == 0
    assert note in capsys.readouterr().err
    assert hearth("ask", "Xyzzy?", "--file", str(path), "--json") == 0
    assert note in json.loads(capsys.readouterr().out)["notes"]
    assert hearth("ask", "Bread 17?", "--file", str(path)) == 0
    assert "matches the question" not in capsys.readouterr().err


def test_files_are_kept_with_a_chat(hearth: Hearth, tmp_path: Path) -> None:
    path = pdf(tmp_path / "oven.pdf", [["The oven takes 250 degrees."]])
    DataFolder.default().prepare()
    database = Database(DataFolder.default().database)
    chats = ChatStore(database)
    _, answer = chats.ask(None, "Hello")
    assert hearth("ask", "How hot?", "--file", str(path), "--chat", answer.chat_id) == 0
    question = chats.path(answer.chat_id)[-2]
    assert [it.name for it in question.attachments] == ["oven.pdf"]
    copy = DataFolder.default().attachments / question.attachments[0].sha256
    assert copy.read_bytes() == path.read_bytes()
    chats.delete(answer.chat_id)
    chats.purge(answer.chat_id)
    database.close()
    assert hearth("chats", "list") == 0
    assert not copy.exists(), "the next start removes what no chat has"


def test_quotes_are_held_against_the_files(
    hearth: Hearth, engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pdf(tmp_path / "oven.pdf", [["The oven takes 250", "degrees."], ["The end of it."]])
    engine.pieces = [
        "“oven takes 250 degrees” (oven.pdf, page 1), ",
        "“oven takes 350 degrees” (page 1), ",
        "“end of it” (page 1)",
    ]
    assert hearth("ask", "How hot?", "--file", str(path)) == 0
    told = capsys.readouterr().err
    assert "1 of 3 quotes were found in the files." in told
    assert "Not in the files: “oven takes 350 degrees”" in told
    assert "Not where the answer says, but in oven.pdf, page 2: “end of it”" in told
    assert hearth("ask", "How hot?", "--file", str(path), "--json") == 0
    citations = json.loads(capsys.readouterr().out)["citations"]
    assert [it["verdict"] for it in citations] == ["found", "not_found", "elsewhere"]
    (span,) = citations[0]["spans"]
    assert (span["place"]["number"], span["start"], span["end"]) == (1, 4, 26)


def test_a_place_that_could_not_be_checked_is_told(
    hearth: Hearth, engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pdf(tmp_path / "oven.pdf", [["The oven takes 250", "degrees."]])
    engine.pieces = ["Clause 4.2 says:\n\n> The oven takes\n> 250 degrees.\n"]
    assert hearth("ask", "How hot?", "--file", str(path)) == 0
    told = capsys.readouterr().err
    assert "1 of 1 quotes were found in the files." in told
    assert "The words are in oven.pdf, page 1, but the place that the answer names" in told
    assert hearth("ask", "How hot?", "--file", str(path), "--json") == 0
    (citation,) = json.loads(capsys.readouterr().out)["citations"]
    assert (citation["verdict"], citation["found"]) == ("place_unchecked", False)
    assert (citation["file"], citation["page"], citation["start"]) == ("oven.pdf", 1, 0)


def test_quotes_and_passages_are_told_as_the_contract_has_them(
    hearth: Hearth, engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = pdf(tmp_path / "oven.pdf", [["The oven takes 250", "degrees."], ["The end of it."]])
    engine.pieces = [
        "It says “the **end** of it” and “**end** of it”.\n\n```\nsay “end of it”\n```\n"
    ]
    assert hearth("ask", "How hot?", "--file", str(path), "--json") == 0
    value = json.loads(capsys.readouterr().out)
    text = "The oven takes 250\ndegrees.\n\nThe end of it."
    missing, found = value["citations"]
    assert (missing["quote"], missing["found"]) == ("the end of it", False)
    assert [missing[it] for it in ("file", "page", "start", "end")] == [None] * 4
    assert (found["quote"], found["found"], found["file"]) == ("end of it", True, "oven.pdf")
    assert found["page"] == 2
    assert text[found["start"] : found["end"]] == "end of it"
    (passage,) = value["passages"]
    assert [passage[it] for it in ("file", "page", "start", "end")] == [
        "oven.pdf",
        None,
        0,
        len(text),
    ]


def test_a_file_that_cannot_be_read_asks_nothing(
    hearth: Hearth, engine: ScriptedEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = locked_pdf(tmp_path / "a.pdf", [["Secret"]])
    assert hearth("ask", "Hi", "--file", str(path), "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["what"]) == ("document_not_read", "a.pdf cannot be read.")
    assert engine.requests == []


def test_a_scan_is_told(hearth: Hearth, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hearth("ask", "Hi", "--file", str(pdf(tmp_path / "a.pdf", [[]])))
    assert "a.pdf: its pages are pictures without text." in capsys.readouterr().err


@pytest.fixture
def seeing(tmp_path: Path) -> Path:
    """Write a model with its projector beside it."""
    folder = tmp_path / "seeing"
    folder.mkdir()
    qwen3vl_projector(folder / "mmproj-model.gguf")
    return write_qwen3vl(folder / "model.gguf")


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(written(two_colours(), "JPEG", exif=with_metadata()))
    return path


@pytest.mark.parametrize("option", ["--image", "--file"])
def test_a_picture_goes_with_the_question(
    hearth: Hearth,
    engine: ScriptedEngine,
    seeing: Path,
    photo: Path,
    capsys: pytest.CaptureFixture[str],
    option: str,
) -> None:
    engine.says = {"sees": True}
    assert hearth("ask", "What is it?", option, str(photo), "--model", str(seeing), "--json") == 0
    (plan,) = engine.plans
    assert isinstance(plan, LlamaPlan)
    assert plan.projector == seeing.with_name("mmproj-model.gguf")
    (question,) = engine.requests[-1].messages
    assert question.text == "What is it?"
    assert [it.kind for it in question.media] == ["image"]
    assert b"SecretMaker" not in question.media[0].data
    said = json.loads(capsys.readouterr().out)
    assert [(it["name"], it["width"], it["height"]) for it in said["files"]] == [
        ("photo.jpg", 60, 40)
    ]
    assert [it["origin"] for it in said["sources"]] == ["picture"]


def test_the_guide_is_not_asked_about_a_picture(
    hearth: Hearth, engine: ScriptedEngine, photo: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("ask", "What is it?", "--image", str(photo), "--json") == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "media"
    assert "reads nothing but text" in error["why"]
    assert engine.requests == []


def test_a_model_in_this_process_looks_at_a_picture(
    seeing: Path, photo: Path, tmp_path: Path
) -> None:
    words = ("ask", "What?", "--image", str(photo), "--model", str(seeing), "--max-tokens", "4")
    ended = subprocess.run(
        [sys.executable, "-m", "app", "--data-dir", str(tmp_path / "data"), "--json", *words],
        capture_output=True,
        check=True,
    )
    said = json.loads(ended.stdout)
    assert said["usage"]["completion_tokens"] == 4
    assert said["sources"][0]["origin"] == "picture"


def test_the_list_says_which_models_see(
    hearth: Hearth, seeing: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("models", "import", str(seeing)) == 0
    capsys.readouterr()
    assert hearth("models", "list", "--json") == 0
    listed = {it["id"]: it for it in json.loads(capsys.readouterr().out)}
    assert (listed["model"]["vision"], listed["model"]["audio"]) == (True, False)
    assert not listed["starter"]["vision"]
    assert listed["model"]["files"] == ["model.gguf", "mmproj-model.gguf"]
    assert hearth("models", "fit", "model", "--json") == 0
    assert json.loads(capsys.readouterr().out)["parts"]["projector"] > 0


def test_a_save_that_fails_at_the_end_is_one_value_with_the_answer_in_it(
    hearth: Hearth,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    DataFolder.default().prepare()
    database = Database(DataFolder.default().database)
    _, answer = ChatStore(database).ask(None, "Hello")
    database.close()

    def full(_store: ChatStore, _message: StoredMessage) -> None:
        raise DiskFull("The disk is full.", "No room.", "Free some.")

    monkeypatch.setattr(ChatStore, "save_answer", full)
    assert hearth("ask", "Hi", "--chat", answer.chat_id, "--json") == 1
    value = json.loads(capsys.readouterr().out)
    assert value["error"]["code"] == "disk_full"
    assert value["answer"]["text"] == "Hello there"
    assert hearth("ask", "Hi", "--chat", answer.chat_id) == 1
    shown = capsys.readouterr()
    assert shown.out == "Hello there\n"
    assert "The disk is full." in shown.err


def test_without_a_standard_input_there_is_nothing_to_read(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    assert hearth("ask", "-", "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"
