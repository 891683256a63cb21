"""The settings file: complete, readable, and never half written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.base.errors import DiskFull
from app.settings.store import LoadedSettings, SettingsFile
from app.settings.values import fields as settings_module
from app.settings.values.fields import Settings


def test_no_file_means_the_defaults(tmp_path: Path) -> None:
    assert SettingsFile(tmp_path / "settings.json").read() == Settings()


def test_only_what_differs_is_written(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    settings = Settings(theme="dark", system_prompt="Sei höflich.")
    SettingsFile(path).write(settings)
    assert json.loads(path.read_text("utf-8")) == {
        "theme": "dark",
        "system_prompt": "Sei höflich.",
    }
    assert SettingsFile(path).read() == settings
    assert list(tmp_path.iterdir()) == [path]


DEEP = b"[" * 100_000


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"{", "Expecting"),
        (b"[]", "list of names"),
        (b"", "empty"),
        (b" \n", "empty"),
        (b'{"theme": "\xff"}', "UTF-8"),
        (b"\0\0\0\0", "Expecting"),
        (b'{"theme": ' + DEEP, "too deeply"),
        (b" " * 5_000_000, "5 MB"),
    ],
    ids=lambda it: it[:12].decode("latin-1") if isinstance(it, bytes) else it,
)
def test_a_file_that_cannot_be_read_is_told_and_kept(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "settings.json"
    path.write_bytes(content)
    found = SettingsFile(path).load()
    (fault,) = found.faults
    assert reason in fault.why
    assert found.settings == Settings(offline=True, snapshots=366), "it was not on the safe side"
    assert path.read_bytes() == content, "reading has changed it"
    SettingsFile(path).write(found.settings.changed("theme", "dark"))
    assert (tmp_path / "settings.json.damaged").read_bytes() == content
    assert SettingsFile(path).load() == LoadedSettings(
        Settings(offline=True, snapshots=366, theme="dark"), {}, (), is_damaged=False
    )


@pytest.mark.parametrize("kind", ["folder", "pipe", "loop", "endless"])
def test_what_is_no_file_is_told_and_kept(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "settings.json"
    if kind == "folder":
        path.mkdir()
        (path / "mine").touch()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("settings.json" if kind == "loop" else "/dev/zero")
    file = SettingsFile(path)
    assert len(file.load().faults) == 1
    file.write(Settings(theme="dark"))
    assert file.load() == LoadedSettings(Settings(theme="dark"), {}, (), is_damaged=False)
    assert os.path.lexists(tmp_path / "settings.json.damaged")


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('"temperature": "hot"', "temperature: It should be a number"),
        ('"temperature": NaN', "temperature"),
        ('"temperature": 1e999', "temperature"),
        ('"top_k": ' + "9" * 5000, "top_k"),
        ('"kv_disk": -1', "kv_disk: It should be at least 0"),
        ('"theme": {"a": 1}', "theme"),
        ('"shortcuts": {"send": 5}', "shortcuts"),
        ('"shortcuts": [1]', "shortcuts"),
        ('"model_folders": "/a\\u0000b"', "model_folders"),
        ('"system_prompt": "\\ud800"', "system_prompt"),
        ('"zoom": 120, "zoom": 110', "zoom: It occurs twice"),
        ('"offline": "perhaps"', "offline"),
    ],
)
def test_of_a_value_that_cannot_be_used_the_usual_holds_and_the_rest_stays(
    tmp_path: Path, line: str, reason: str
) -> None:
    path = tmp_path / "settings.json"
    content = f'{{"text_size": 20, {line}}}'
    path.write_text(content)
    file = SettingsFile(path)
    found = file.load()
    (fault,) = found.faults
    assert reason in fault.why
    assert len(str(fault)) < 1000
    assert found.settings.text_size == 20
    assert found.settings.offline == ("offline" in line), "what is not known is not allowed"
    file.write(found.settings)
    assert (tmp_path / "settings.json.damaged").read_text() == content
    assert file.load().faults == ()
    assert file.read() == found.settings


def test_names_of_another_version_are_kept_and_told(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    theirs = {"colour": {"of": ["red", None]}, "half": "\ud800"}
    path.write_text(json.dumps({"theme": "dark", **theirs}))
    file = SettingsFile(path)
    found = file.load()
    (fault,) = found.faults
    assert "colour" in fault.why
    assert found.settings == Settings(theme="dark")
    file.write(found.settings.changed("theme", "light"))
    assert json.loads(path.read_text("utf-8")) == {"theme": "light", **theirs}
    assert list(tmp_path.iterdir()) == [path], "nothing was damaged"


def test_each_damaged_file_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    for content in ("first", "second"):
        path.write_text(content)
        SettingsFile(path).write(Settings())
    kept = sorted(tmp_path.glob("settings.json.damaged*"))
    assert [it.read_text() for it in kept] == ["first", "second"]


def test_a_damaged_file_stays_where_a_new_one_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "settings.json"
    path.write_text("nonsense")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        SettingsFile(path).write(Settings())
    assert path.read_text() == "nonsense"


def test_a_renamed_setting_is_read_by_its_old_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(settings_module.RENAMED, "warmth", "temperature")
    path = tmp_path / "settings.json"
    path.write_text('{"warmth": 0.3}')
    assert SettingsFile(path).read().temperature == 0.3


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "settings.json"
    file = SettingsFile(path)
    file.write(Settings(theme="dark"))
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(DiskFull):
        file.write(Settings(theme="light"))
    assert file.read().theme == "dark"
