"""The settings file: whole, readable, and never half written."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.core import settings as settings_module
from app.core.errors import DiskFull, SettingsInvalid
from app.core.settings import Settings
from app.store.settings_file import SettingsFile


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


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("{", "Expecting"),
        ("[]", "list of names"),
        ('{"temperature": "hot"}', "temperature"),
        ('{"colour": 1}', "colour"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_and_kept(
    tmp_path: Path, content: str, reason: str
) -> None:
    path = tmp_path / "settings.json"
    path.write_text(content)
    with pytest.raises(SettingsInvalid) as caught:
        SettingsFile(path).read()
    assert reason in caught.value.why
    assert path.read_text() == content


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
