"""Recognising Hearth's own folders, even incomplete ones, and leaving all others untouched."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.errors import NotADataFolder
from app.base.folder import DataFolder
from app.base.migrations import MIGRATIONS
from app.base.reports import save_report
from tests.support.paths import ROOT

modes = pytest.mark.skipif(os.name == "nt", reason="Windows knows no modes")


def write(root: Path, *names: str) -> None:
    """Write files that all accounts may read, in folders that all may enter."""
    root.mkdir(parents=True, exist_ok=True)
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("theirs")
    for path in (root, *root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)


def seen(root: Path) -> dict[str, tuple[int, bytes]]:
    """Return the mode and the bytes of everything in a folder, and the folder's own mode."""
    return {
        str(path.relative_to(root)): (
            stat.S_IMODE(path.lstat().st_mode),
            path.read_bytes() if path.is_file() else b"",
        )
        for path in (root, *root.rglob("*"))
    }


def run(*words: str, here: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *words],
        cwd=here,
        env=os.environ | {"PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"} | variables,
        capture_output=True,
        stdin=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        timeout=100,
        check=False,
    )


FOREIGN = [
    ("logs/today", "models/a/weights", "states/x", "notes.txt"),
    ("models/a.gguf",),
    ("logs/access.log", "models/user.py"),
    ("notes.txt",),
    (".git/config",),
    ("settings.json",),
    ("engines/steam/boiler.txt",),
    ("chats.db.old",),
]


@pytest.mark.parametrize("names", FOREIGN, ids=" ".join)
def test_a_folder_of_other_files_is_refused_and_nothing_in_it_changes(
    tmp_path: Path, names: tuple[str, ...]
) -> None:
    root = tmp_path / "theirs"
    write(root, *names)
    before = seen(root)
    folder = DataFolder(root)
    with pytest.raises(NotADataFolder) as caught:
        folder.prepare()
    assert names[0].partition("/")[0] in caught.value.why or "“" in caught.value.why
    assert "--data-dir" in caught.value.terminal
    with pytest.raises(NotADataFolder):
        folder.close_to_others()
    assert save_report(ValueError("x"), folder).parent != folder.logs
    assert seen(root) == before


def test_the_settings_of_an_editor_are_not_hearths(tmp_path: Path) -> None:
    (tmp_path / "settings.json").write_text('{"editor.fontSize": 12}')
    with pytest.raises(NotADataFolder):
        DataFolder(tmp_path).prepare()


def test_the_chats_of_another_program_are_not_hearths(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "chats.db")) as db:
        db.execute("CREATE TABLE chats (id, title)")
        db.execute("CREATE TABLE messages (id, chat)")
        db.commit()
    with pytest.raises(NotADataFolder):
        DataFolder(tmp_path).prepare()
    assert [it.name for it in tmp_path.iterdir()] == ["chats.db"]


@pytest.mark.parametrize(
    "command",
    [
        ("settings", "list"),
        ("ask", "Hello"),
        ("serve", "--port", "0"),
        ("engines", "install", "vllm", "--yes"),
        ("chats", "restore", "copy.db"),
        ("models", "list"),
        ("doctor",),
    ],
    ids=" ".join,
)
def test_no_command_touches_a_folder_of_other_files(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    root = tmp_path / "theirs"
    write(root, *FOREIGN[0])
    before = seen(root)
    done = run("--data-dir", str(root), "--json", *command, here=tmp_path)
    assert done.returncode == 1, done.stderr
    said = json.loads(done.stdout)
    if command == ("doctor",):
        (found,) = (it for it in said if it["check"] == "data folder")
        assert (found["state"], "not a data folder" in found["finding"]) == ("failed", True)
    else:
        assert said["error"]["code"] == "not_a_data_folder"
    assert seen(root) == before


WINDOW = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from app.start import window
from app.window.values.launch_request import LaunchRequest
from app.base.folder import DataFolder

folder = DataFolder(Path(sys.argv[1]))
app = window._application()
closing = QTimer()
closing.timeout.connect(lambda: [it.close() for it in app.topLevelWidgets() if it.isVisible()])
closing.start(50)
for wish in (LaunchRequest(), LaunchRequest(quick_ask=True)):
    try:
        print(window.pass_to_open_window(folder, wish))
    except Exception as error:
        print(type(error).__name__)
    try:
        window.open_window(folder, True, wish)
    except Exception as error:
        print(type(error).__name__)
"""


def test_the_window_does_not_touch_a_folder_of_other_files(tmp_path: Path) -> None:
    root = tmp_path / "theirs"
    write(root, *FOREIGN[0], "requests/x")
    before = seen(root)
    done = subprocess.run(
        [sys.executable, "-c", WINDOW, str(root)],
        cwd=ROOT,
        env=os.environ | {"QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.stdout.split() == ["False", *["NotADataFolder"] * 3], done.stderr
    assert seen(root) == before


@pytest.mark.parametrize("option", [("--data-dir", ""), ("--data-dir=",), ("--data-dir", " ")])
def test_an_empty_name_is_no_folder(tmp_path: Path, option: tuple[str, ...]) -> None:
    (tmp_path / "kept").touch(mode=0o644)
    before = seen(tmp_path)
    for words in ((*option, "settings", "list"), option):
        done = run(*words, here=tmp_path)
        assert done.returncode == 2, done.stderr
        assert "the path of a folder is empty" in done.stderr
    assert seen(tmp_path) == before


@pytest.mark.parametrize("value", ["", " "])
def test_an_empty_variable_is_none(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("HEARTH_DATA_DIR", value)
    chosen = DataFolder.default().root
    monkeypatch.delenv("HEARTH_DATA_DIR")
    assert chosen == DataFolder.default().root


def first_version(root: Path) -> None:
    """Make a chat database of the first version next to a file of the user's."""
    with closing(sqlite3.connect(root / "chats.db", isolation_level=None)) as db:
        MIGRATIONS[0](db)
        db.execute("PRAGMA user_version=1")
    (root / "notes.txt").touch()


def lost_chats(root: Path) -> None:
    (root / "logs").mkdir()
    (root / "logs" / "native-crash.txt").touch()
    (root / "models").mkdir()
    (root / "models" / "a.gguf").touch()
    (root / "notes.txt").touch()


def damaged_chats(root: Path) -> None:
    (root / "chats.db").write_bytes(b"no database " * 100)
    (root / "window.json").write_text("{}")
    (root / "models").mkdir()


def crashed_at_first(root: Path) -> None:
    (root / "logs").mkdir()
    (root / "models").mkdir()


def crashed_in_the_database(root: Path) -> None:
    crashed_at_first(root)
    (root / "chats.db").touch()
    (root / "chats.db-wal").touch()


def first_report(root: Path) -> None:
    save_report(ValueError("x"), DataFolder(root))


def copies_alone(root: Path) -> None:
    (root / "snapshots").mkdir()
    (root / "snapshots" / "chats-2026-11-01.db").touch()
    (root / "notes.txt").touch()


def settings_alone(root: Path) -> None:
    (root / "settings.json").write_text('{"theme": "dark"}')


def prepared_by_hand(root: Path) -> None:
    (root / "catalogue.json").write_text("{}")
    (root / "engines" / "llamacpp" / "packs" / "cuda").mkdir(parents=True)
    (root / "engines" / "llamacpp" / "packs" / "cuda" / "pack.json").touch()


def new_disk(root: Path) -> None:
    (root / "lost+found").mkdir()
    (root / ".DS_Store").touch()


@pytest.mark.parametrize(
    "make",
    [
        first_version,
        lost_chats,
        damaged_chats,
        crashed_at_first,
        crashed_in_the_database,
        first_report,
        copies_alone,
        settings_alone,
        prepared_by_hand,
        new_disk,
    ],
)
def test_a_folder_of_hearths_is_known_whatever_is_left_of_it(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    root = tmp_path / "data"
    root.mkdir()
    make(root)
    DataFolder(root).prepare()
    DataFolder(root).prepare()


def test_a_folder_that_has_lost_everything_but_models_is_known_by_its_mark(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    (folder.models / "a.gguf").touch()
    folder.logs.rmdir()
    folder.prepare()


@modes
def test_files_of_others_in_a_folder_of_hearths_stay_as_they_are(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    Database(folder.database).close()
    write(folder.root, "notes.txt", "mine/deep/file", "search.db")
    folder.prepare()
    after = seen(folder.root)
    assert after["notes.txt"][0] == 0o644
    assert (after["mine"][0], after["mine/deep/file"][0]) == (0o755, 0o644)
    assert after["search.db"][0] == 0o600
    assert after["."][0] == 0o700


@modes
def test_nothing_behind_a_link_is_changed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    places = ("models", "logs", "states", "attachments", "knowledge", "headers", "engines")
    write(outside, *(f"{it}/deep/file" for it in places), "engines/vllm/run/file", "one")
    before = seen(outside)
    root = tmp_path / "data"
    root.mkdir()
    for name in places:
        (root / name).symlink_to(outside / name)
    (root / "costs.json").symlink_to(outside / "one")
    folder = DataFolder(root)
    folder.prepare()
    os.link(outside / "one", root / "probed.json")
    folder.close_to_others()
    assert seen(outside) == before


@modes
def test_a_data_folder_may_be_a_link_to_one(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "data")
    folder.prepare()
    write(folder.root, "costs.json")
    (tmp_path / "link").symlink_to(folder.root)
    DataFolder(tmp_path / "link").prepare()
    assert (seen(folder.root)["."][0], seen(folder.root)["costs.json"][0]) == (0o700, 0o600)
    write(tmp_path / "theirs", "notes.txt", "logs/x")
    (tmp_path / "other").symlink_to(tmp_path / "theirs")
    before = seen(tmp_path / "theirs")
    with pytest.raises(NotADataFolder):
        DataFolder(tmp_path / "other").prepare()
    assert seen(tmp_path / "theirs") == before


def test_nothing_behind_a_link_is_tidied_away(tmp_path: Path) -> None:
    from app.documents.store.documents import FileCopies
    from app.models.hub.remote_header import forget_headers
    from engines.vllm.provision.home import EngineHome

    outside = tmp_path / "outside"
    write(outside, "headers/mine/old/file", "vllm/versions/mine/file", "vllm/work/file", "a/notes")
    root = tmp_path / "data"
    (root / "engines").mkdir(parents=True)
    (root / "headers").symlink_to(outside / "headers")
    (root / "engines" / "vllm").symlink_to(outside / "vllm")
    (root / "attachments").symlink_to(outside / "a")
    before = seen(outside)
    forget_headers(root / "headers", -3600.0)
    FileCopies(root / "attachments").remove_unused(set())
    home = EngineHome(root / "engines" / "vllm")
    home.tidy()
    home.forget_work()
    home.remove()
    assert seen(outside) == before
