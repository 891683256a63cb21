"""`hearth models`: listing, checking, importing, renaming and removing models."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from app.base.folder import DataFolder
from tests.app.models.library.services.places.layouts import (
    put_in_ollama,
    put_on_hub,
    sha256,
    some_model,
    write_projector,
)
from tests.hub.testhub import TestHub
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth


class Terminal:
    """A runner of `hearth`; `says` returns its JSON."""

    def __init__(self, hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
        self.hearth = hearth
        self.capsys = capsys

    def says(self, *words: str, status: int = 0) -> Any:
        self.capsys.readouterr()
        assert self.hearth(*words, "--json") == status
        return json.loads(self.capsys.readouterr().out)

    def prints(self, *words: str, status: int = 0) -> str:
        self.capsys.readouterr()
        assert self.hearth(*words) == status
        return self.capsys.readouterr().out


@pytest.fixture
def terminal(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> Terminal:
    return Terminal(hearth, capsys)


@pytest.fixture
def cache() -> Path:
    return Path(os.environ["HF_HUB_CACHE"])


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return some_model(tmp_path / "m-Q8_0.gguf")


def test_the_list_says_where_a_model_is_from(
    terminal: Terminal, cache: Path, model: Path, tmp_path: Path
) -> None:
    put_on_hub(cache, "anna/m-GGUF", "m-Q8_0.gguf", model)
    put_on_hub(cache, "anna/m-GGUF", "mmproj.gguf", write_projector(tmp_path / "p.gguf"))
    ollama = Path(os.environ["OLLAMA_MODELS"])
    put_in_ollama(
        ollama, "registry.ollama.ai/library/o/1b",
        some_model(tmp_path / "o.gguf", context_length=4096),
    )  # fmt: skip
    listed = {row["id"]: row for row in terminal.says("models", "list")}
    assert set(listed) == {"starter", "m-q8-0", "o-1b"}
    row = listed["m-q8-0"]
    assert (row["repo"], row["verified"]) == ("anna/m-GGUF", False)
    assert row["files"] == ["m-Q8_0.gguf", "mmproj.gguf"]
    assert listed["o-1b"]["source"] == "ollama"
    assert "o:1b" in terminal.prints("models", "list")
    for called in ("anna/m-GGUF", "anna/m-GGUF:Q8_0", "anna/m-GGUF/m-Q8_0.gguf"):
        assert terminal.says("models", "show", called)["id"] == "m-q8-0"


def test_verify(terminal: Terminal, cache: Path, model: Path) -> None:
    link = put_on_hub(cache, "anna/m-GGUF", "m-Q8_0.gguf", model)
    said = terminal.says("models", "verify", "m-q8-0")
    assert said == {
        "id": "m-q8-0", "sha256": sha256(model), "compared": True, "verified": True,
    }  # fmt: skip
    assert terminal.says("models", "list")[1]["verified"] is True
    with link.resolve().open("ab") as file:
        file.write(b"!")
    said = terminal.says("models", "verify", "m-q8-0", status=1)
    assert said["error"]["code"] == "model_differs"
    assert terminal.says("models", "list")[1]["verified"] is False


def test_import_by_copy_rename_and_remove(
    terminal: Terminal, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from send2trash import plat_other

    monkeypatch.setattr(plat_other, "HOMETRASH_B", os.fsencode(tmp_path / "trash"))
    monkeypatch.setattr(plat_other, "get_dev", lambda _: 1)
    added = terminal.says("models", "import", str(model), "--copy")
    assert Path(added["path"]).is_relative_to(DataFolder.default().models)
    assert added["verified"] is True
    assert terminal.says("models", "rename", "m-q8-0", "Mine") == {"id": "m-q8-0", "name": "Mine"}
    assert terminal.says("models", "show", "Mine")["id"] == "m-q8-0"
    gone = terminal.says("models", "rm", "Mine")
    assert gone["frees_bytes"] == model.stat().st_size
    assert [row["id"] for row in terminal.says("models", "list")] == ["starter"]
    assert terminal.says("models", "rm", "starter", status=1)["error"]["code"] == "model_not_ours"


@pytest.mark.parametrize("by", ["m-q8-0", "m-Q8_0", "path"])
def test_a_model_that_goes_is_taken_out_of_the_settings(
    terminal: Terminal, model: Path, by: str
) -> None:
    terminal.says("models", "import", str(model))
    terminal.says("settings", "set", "model", str(model) if by == "path" else by)
    gone = terminal.says("models", "rm", "m-q8-0")
    assert gone["settings"] == {"model": "starter"}
    assert terminal.says("settings", "get", "model")["value"] == "starter"
    assert terminal.says("ask", "Hello")["model"] == "starter"


def test_it_is_said_in_words_that_a_setting_named_it(terminal: Terminal, model: Path) -> None:
    terminal.says("models", "import", str(model))
    for name in ("model", "draft_model"):
        terminal.says("settings", "set", name, "m-q8-0")
    said = terminal.prints("models", "rm", "m-q8-0")
    assert "The setting “model” used it, and is now: starter." in said
    assert "The setting “draft_model” used it, and is now: empty." in said


def test_a_model_with_a_new_name_stays_the_usual_one(terminal: Terminal, model: Path) -> None:
    terminal.says("models", "import", str(model))
    terminal.says("settings", "set", "model", "m-Q8_0")
    terminal.says("models", "rename", "m-q8-0", "Mine")
    assert terminal.says("settings", "get", "model")["value"] == "m-q8-0"


def test_a_setting_names_only_what_is_here(terminal: Terminal, model: Path, tmp_path: Path) -> None:
    terminal.says("models", "import", str(model))
    for name, value, code, says in (
        ("model", "nope", "model_not_found", "neither the name"),
        ("model", "m-q8", "model_not_found", "m-q8-0"),
        ("model", "startr", "model_not_found", "starter"),
        ("model", str(tmp_path / "gone.gguf"), "model_not_found", "gone.gguf"),
        ("draft_model", "nope", "model_not_found", "neither the name"),
        ("embedding_model", "nope", "model_not_found", "neither the name"),
        ("embedding_model", "m-q8-0", "settings_invalid", "cannot turn texts into vectors"),
        ("server_aliases", "gpt-4o = nope", "model_not_found", "neither the name"),
        ("adapter", "nope", "settings_invalid", "No adapter"),
        ("model_folders", str(tmp_path / "gone"), "settings_invalid", "look for models"),
        ("server_certificate", str(tmp_path / "gone.pem"), "settings_invalid", "certificate"),
        ("server_key", str(tmp_path / "gone.pem"), "settings_invalid", "key"),
    ):
        before = terminal.says("settings", "get", name)
        error = terminal.says("settings", "set", name, value, status=1)["error"]
        assert (error["code"], says in error["why"]) == (code, True), (name, error)
        assert terminal.says("settings", "get", name) == before
    for name, value in (
        ("model", "m-Q8_0"), ("model", str(model)), ("draft_model", "m-q8-0"),
        ("draft_model", ""), ("embedding_model", "off"), ("embedding_model", ""),
        ("server_aliases", "gpt-4o = starter"), ("adapter", ""), ("model_folders", str(tmp_path)),
        ("server_key", str(model)), ("server_key", ""),
    ):  # fmt: skip
        assert terminal.says("settings", "set", name, value)["value"] == value


def test_a_model_that_vanished_is_told_with_the_setting_that_names_it(
    terminal: Terminal, model: Path
) -> None:
    terminal.says("models", "import", str(model))
    terminal.says("settings", "set", "model", "m-q8-0")
    model.unlink()
    error = terminal.says("ask", "Hello", status=1)["error"]
    assert error["code"] == "model_not_found"
    assert "The setting “Model” names it" in error["why"]
    assert "hearth settings set model" in error["do"]
    terminal.says("models", "rm", "m-q8-0")
    DataFolder.default().settings.write_text('{"model": "never-here"}')
    error = terminal.says("ask", "Hello", status=1)["error"]
    assert "never-here" in error["what"]
    assert "The setting “Model” names it" in error["why"]
    error = terminal.says("ask", "Hello", "--model", "nor-this", status=1)["error"]
    assert "setting" not in error["why"]


def test_settings_of_a_model_hold_where_it_answers(
    terminal: Terminal, model: Path, engine: ScriptedEngine
) -> None:
    terminal.says("models", "import", str(model))
    assert terminal.says("models", "set", "m-q8-0") == {}
    assert terminal.says("models", "set", "m-q8-0", "temperature", "0.25") == {"temperature": 0.25}
    terminal.says("models", "set", "m-q8-0", "system_prompt", "Be brief.")
    terminal.says("models", "set", "m-q8-0", "context", "1024")
    terminal.says("models", "set", "m-q8-0", "mtp", "off")
    terminal.says("models", "set", "m-q8-0", "gpu_layers", "-1")
    terminal.says("ask", "Hi", "--model", "m-q8-0")
    request = engine.requests[-1]
    assert (request.sampling.temperature, request.mtp) == (0.25, "off")
    assert [message.text for message in request.messages] == ["Be brief.", "Hi"]
    assert engine.plans[-1].context == 1024
    terminal.says("ask", "Hi", "--model", "m-q8-0", "--temperature", "0.5", "--system", "")
    assert engine.requests[-1].sampling.temperature == 0.5
    assert len(engine.requests[-1].messages) == 1
    terminal.prints("bench", "--model", "m-q8-0", "--rounds", "1", "--tokens", "2")
    assert engine.plans[-1].context == 1024
    assert terminal.says("models", "set", "m-q8-0", "temperature") == {
        "name": "temperature", "value": 0.25, "own": True,
    }  # fmt: skip
    left = terminal.says("models", "set", "m-q8-0", "temperature", "--default")
    assert "temperature" not in left
    assert terminal.says("models", "set", "m-q8-0", "temperature")["value"] == 0.7
    for words in (("theme", "dark"), ("temperature", "hot")):
        terminal.says("models", "set", "m-q8-0", *words, status=1)
    terminal.says("models", "set", "m-q8-0", "nothing", status=1)
    terminal.says("models", "set", "m-q8-0", "--default", status=2)


def test_further_folders_are_a_setting(terminal: Terminal, tmp_path: Path) -> None:
    some_model(tmp_path / "disk" / "far.gguf")
    some_model(tmp_path / "other" / "near.gguf", context_length=4096)
    folders = f"{tmp_path / 'disk'}\n{tmp_path / 'other'}"
    terminal.says("settings", "set", "model_folders", folders)
    ids = {row["id"] for row in terminal.says("models", "list")}
    assert ids == {"starter", "far", "near"}
    assert terminal.says("models", "rm", "far", status=1)["error"]["code"] == "model_not_ours"


def test_what_was_skipped_does_not_hide_the_list(
    terminal: Terminal, capsys: pytest.CaptureFixture[str]
) -> None:
    DataFolder.default().prepare()
    models = DataFolder.default().models
    for number in range(15):
        (models / f"{number}.gguf").touch()
    assert terminal.hearth("models", "list") == 0
    notes = capsys.readouterr().err.splitlines()
    assert sum("was skipped" in line for line in notes) == 10
    assert "5 more were skipped." in notes


def test_details(terminal: Terminal) -> None:
    said = terminal.says("models", "show", "starter")
    assert said["template"] == {"present": True, "system_prompt": True, "thinking": False}
    assert set(said["tensors"]) == {"F16", "F32"}
    assert said["tokenizer"]
    assert "tokenizer" in terminal.prints("models", "show", "starter")


def test_what_was_downloaded_is_here_verified_and_answers(
    terminal: Terminal,
    hub: TestHub,
    cache: Path,
    model: Path,
    tmp_path: Path,
    engine: ScriptedEngine,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    projector = write_projector(tmp_path / "mmproj.gguf")
    hub.add("anna/m-GGUF", {"m-Q8_0.gguf": model, "mmproj-m-F16.gguf": projector})
    other = some_model(tmp_path / "other" / "m-Q8_0.gguf", context_length=4096)
    hub.add("berta/m-GGUF", {"m-Q8_0.gguf": other})
    for repo in ("anna/m-GGUF", "berta/m-GGUF"):
        terminal.says("models", "pull", f"{repo}:Q8_0")
    rows = {row["repo"]: row for row in terminal.says("models", "list") if row["repo"]}
    assert {row["id"] for row in rows.values()} == {"m-q8-0", "m-q8-0-2"}
    assert [rows[repo]["verified"] for repo in sorted(rows)] == [True, True]
    assert [rows[repo]["context_max"] for repo in sorted(rows)] == [2048, 4096]
    assert terminal.says("models", "verify", "anna/m-GGUF:Q8_0")["compared"]
    terminal.says("ask", "Hi", "--model", "berta/m-GGUF")
    assert Path(rows["berta/m-GGUF"]["path"]) == engine.plans[-1].model
    used = {row["id"]: row["last_used"] for row in terminal.says("models", "list")}
    assert [model_id for model_id, time in used.items() if time] == [rows["berta/m-GGUF"]["id"]]
