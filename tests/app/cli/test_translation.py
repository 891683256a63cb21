"""Every word that a command prints for people is translated; the test translates into brackets."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pytest
from babel.messages.catalog import Catalog

from app.api.values import ApiUse
from app.assistants.values.assistants import Assistant
from app.base.folder import DataFolder
from app.base.language import use_language
from app.base.shipped import STARTER, TRANSLATIONS
from app.wiring import devices
from app.wiring.app import App, open_app
from engines.hardware import bandwidth
from engines.types import MtpReport
from resources.translations.make.update import compiled, read, translations
from tests.hub.contents import Made
from tests.hub.testhub import TestHub
from tests.support.foreign_chats import chatgpt_chat
from tests.support.machines import with_card
from tests.support.openai_server import OpenAiServer
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth

OPEN, CLOSE = "⟦", "⟧"
REPO = "ada/Small1-GGUF"
CHAT = "chat-1"
"""The user's own names and texts have a digit in each word; the test ignores words with digits."""

NAMES = set(
    """
    Hearth Hub ChatGPT GGUF MTP vLLM llama cpp Qt Python python SQLite linux Linux glibc CPU KV
    llamacpp vllm remote auto off Card Gemma LFM Qwen tiny
    """.split()
)
"""Words that are the same in every language, and words that the user types."""


class Printing(NamedTuple):
    """A command, with the parts of its output that are not Hearth's own words.

    Attributes:
        words: The command line.
        theirs: Pattern of output that comes from elsewhere or that the user types.
        given: Text on standard input.
    """

    words: str
    theirs: str = "(?!)"
    given: str = ""


SPOKEN = "/help /nothing1 /model /engine /engine_x1 /mtp /mtp_on /mtp_x1 /think_on /think_x1 w1"
SPOKEN += " /chats /again /continue /new /quit"
SETTING = r"^[a-z_]+ +[a-z_]*"
"""A setting's name and value, both as the user types them."""

PRINTING = (
    Printing("doctor"),
    Printing("hardware", r"^⟦(System|Processor|Features)⟧.*|(?<=⟦Device ⟧).*?(?=, )"),
    Printing("recommend", r"hearth models pull \S+|other\."),
    Printing("engines list"),
    Printing("engines install vllm"),
    Printing("engines use llamacpp"),
    Printing("engines stop vllm"),
    Printing("engines stop other1"),
    Printing("settings list", SETTING),
    Printing("settings get mtp"),
    Printing("settings set temperature 9", "temperature"),
    Printing("settings set nothing1 1"),
    Printing("models import {files}/guide1.gguf"),
    Printing("models list", "starter"),
    Printing("models fit guide1"),
    Printing("models edit guide1", "^(name|context|template).*"),
    Printing("models edit guide1 name guide2", given="no"),
    Printing("models edit guide1 name guide2 --yes"),
    Printing("models verify guide1"),
    Printing("models rename guide1 guide2"),
    Printing("models set starter"),
    Printing("models set starter temperature 0.5", SETTING),
    Printing("models rm guide2"),
    Printing("models search small1"),
    Printing("models search small1 --offline"),
    Printing(f"models show {REPO}"),
    Printing(f"models pull {REPO}:Q4_K_M"),
    Printing("models pull ada/None1-GGUF"),
    Printing("models fit none1"),
    Printing("downloads list"),
    Printing("token set hf", given="hf_1"),
    Printing("token status hf"),
    Printing("token clear hf"),
    Printing("servers list"),
    Printing("servers add srv1 {server}"),
    Printing("servers test srv1"),
    Printing("servers list"),
    Printing("ask w1 --model srv1"),
    Printing("servers rm srv1"),
    Printing("clients list"),
    Printing("clients add other1"),
    Printing("clients uses"),
    Printing("clients token"),
    Printing("clients rm other1"),
    Printing("connections"),
    Printing("connections --clear"),
    Printing("stats"),
    Printing("stats --url {server}"),
    Printing("assistants list"),
    Printing("assistants show poet1"),
    Printing("docs list"),
    Printing("docs add papers1 {files}"),
    Printing("docs list"),
    Printing("docs show papers1"),
    Printing("docs search papers1 w1"),
    Printing("docs check papers1 --quote w1"),
    Printing("docs check papers1 --quote w9"),
    Printing("docs pause papers1"),
    Printing("docs list"),
    Printing("ask w1 --docs papers1"),
    Printing("docs resume papers1"),
    Printing("docs rm papers1"),
    Printing("ask w1 --file {files}/lease1.md --think on"),
    Printing("ask w1 --file {files}/empty1.txt"),
    Printing("ask w1 --mtp on"),
    Printing("chat", "starter", SPOKEN.replace(" ", "\n").replace("_", " ")),
    Printing("chats list"),
    Printing("chats search w2"),
    Printing("chats list --place trash"),
    Printing("chats archive {chat}"),
    Printing("chats unarchive {chat}"),
    Printing("chats export {chat} --output {files}/out1.md"),
    Printing("chats export {chat} --format json --output {files}/out1.json"),
    Printing("chats import {files}/out1.json {files}/lease1.md"),
    Printing("chats rm {chat}"),
    Printing("chats import {files}/out1.json"),
    Printing("chats import {files}/chatgpt1.json"),
    Printing("chats export"),
    Printing("chats restore list"),
    Printing("bench --rounds 1 --tokens 9"),
    Printing("bench --check-mtp"),
    Printing("bench --concurrency 1,2 --rounds 1 --tokens 9"),
    Printing("assistants rm poet1"),
    Printing("about"),
    Printing("open {files}/lease1.md"),
)
"""Guides, exports, licences and the fields of `models show` are English in every language."""


def bracketed(text: str, translation: str) -> str:
    """Put brackets round each part of a text but its placeholders."""
    if not re.search("[a-z]", text, re.IGNORECASE):
        return translation  # a number format
    return re.sub(r"(^|\{\w+\})([^{]+|\{(?!\w+\}))", rf"\1{OPEN}\2{CLOSE}", text)


@pytest.fixture
def brackets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    catalogue = Catalog(locale="de")
    for text, translation in translations(read(TRANSLATIONS / "hearth_de.po")).items():
        catalogue.add(text, bracketed(text, translation))
    folder = tmp_path / "translations"
    folder.mkdir()
    (folder / "hearth_de.mo").write_bytes(compiled(catalogue))
    monkeypatch.setattr("app.base.language.TRANSLATIONS", folder)
    # By LC_ALL: the C library reads `LANGUAGE` at each error and remembers what it found.
    monkeypatch.delenv("LANGUAGE")
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    yield
    use_language("en")


def outside(text: str) -> str:
    """Return the words outside of all brackets, line by line."""
    return re.sub(f"{OPEN}[^{CLOSE}]*{CLOSE}", lambda it: "\n" * it[0].count("\n") or " ", text)


def answered(app: App, title: str) -> str:
    _, answer = app.chats.ask(None, "q1 w2")
    app.chats.save_answer(replace(answer, text="a1 w2", state="complete"))
    app.chats.rename(answer.chat_id, title)
    return answer.chat_id


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Make a folder of files to name in commands."""
    files = tmp_path / "files"
    files.mkdir()
    (files / "lease1.md").write_text("# h1\n\nw1 w2 w3\n", encoding="utf-8")
    (files / "empty1.txt").write_text("", encoding="utf-8")
    (files / "torn1.pdf").write_bytes(b"%PDF-1.7 torn")
    (files / "other1.bin").write_bytes(b"\0\1\2")
    (files / "chatgpt1.json").write_text(json.dumps([chatgpt_chat(title="c1")]), encoding="utf-8")
    shutil.copy(STARTER, files / "guide1.gguf")
    return files


@pytest.fixture
def filled(hub: TestHub, engine: ScriptedEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set up a data folder with one of everything, a Hub, and an engine whose words have digits."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    model = {"small-Q4_K_M.gguf": Made(400_000, seed=1, head=b"GGUF")}
    hub.add(REPO, model, licence="apache-2.0", downloads=1234, card="c1 c2")
    hub.add("bea/Small1-Closed-GGUF", model, gated="auto")
    engine.pieces = ("h1", " t1")
    engine.reports = [MtpReport("on", True, "r1", "drafter", 2, 12, 9, 1.4, 1.5)]
    monkeypatch.setattr("tests.support.scripted.NO_DRAFTS", "d1")
    monkeypatch.setattr("tests.support.scripted.MTP_LINE", "m1")
    machine = with_card(12, 360, ())
    monkeypatch.setattr(devices, "hardware_detector", lambda *_, **__: lambda: machine.hardware)
    monkeypatch.setattr(bandwidth, "memory_rates", lambda _: {"Card": 36e10})
    with closing(open_app(DataFolder.default())) as app:
        answered(app, CHAT)
        app.chats.delete(answered(app, "gone-1"))
        app.assistants.save(
            Assistant("abc123", "poet1", "s1 s2", "g1", settings={"temperature": 0.25})
        )
        app.api_keys.add("editor1", (), per_minute=30, at_once=2)
        app.api_keys.record_use(
            ApiUse(time.time(), 1.5, "", "::1", 1, "POST", "/v1/m", "m1", 1200, 34, 50, 60, 401)
        )


def left_in_english(text: str, theirs: str) -> Iterator[str]:
    """Yield each word that is not translated, with its line."""
    for line in outside(re.sub(theirs, "", text, flags=re.MULTILINE)).splitlines():
        rest = re.sub(r"`[^`]*`|\S*[\d_/\\@]\S*", " ", line)
        for word in re.findall(r"[^\W\d_]{3,}", rest):
            if word not in NAMES:
                yield f"{word!r} in {' '.join(line.split())[:200]}"


def test_every_command_is_translated(
    hearth: Hearth,
    filled: None,
    files: Path,
    brackets: None,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with closing(open_app(DataFolder.default())) as app:
        chat = app.chats.chats()[0].id
    left: list[str] = []
    with OpenAiServer(context=4096) as server:
        for words, theirs, given in PRINTING:
            monkeypatch.setattr(sys, "stdin", io.StringIO(given))
            hearth(*words.format(server=server.address, files=files, chat=chat).split())
            for text in capsys.readouterr():
                left += [f"{words}: {it}" for it in left_in_english(text, theirs)]
    assert not left, "\n".join(left)


def test_a_text_of_the_users_stays_even_if_hearth_has_the_same(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A cell of a table and a value of a sentence are translated only if Hearth wrote them."""
    monkeypatch.setenv("LANGUAGE", "de")
    with closing(open_app(DataFolder.default())) as app:
        chat = answered(app, "Time to first token")
    hearth("chats", "list")
    assert "Time to first token" in capsys.readouterr().out
    hearth("chats", "rm", chat)
    assert capsys.readouterr().out == "„Time to first token“ ist gelöscht.\n"


def test_commands_that_open_no_database_follow_the_setting_too(
    hearth: Hearth, data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / "settings.json").write_text('{"language": "deutsch"}', encoding="utf-8")
    for words, german in (
        ("help", "zeigt eine davon"),
        ("about nothing1", "ist kein Bestandteil von Hearth"),
        ("doctor", "Datenordner"),
    ):
        assert not (data_dir / "chats.db").exists(), "only the doctor opens it"
        hearth(*words.split())
        assert german in "".join(capsys.readouterr()), words
