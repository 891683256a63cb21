"""The data folder: how it is chosen, and errors when it cannot be written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from app.base.errors import AppError, DataFolderReadOnly, DiskFull
from app.base.folder import DataFolder, as_user_errors


def test_the_environment_chooses_the_folder(data_dir: Path) -> None:
    assert DataFolder.default().root == data_dir


def test_without_a_choice_the_system_foresees_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEARTH_DATA_DIR")
    assert DataFolder.default().root.name == "hearth"


def test_preparing_makes_the_folders_and_leaves_no_probe(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path / "new" / "place")
    folder.prepare()
    folder.prepare()
    assert sorted(path.name for path in folder.root.iterdir()) == [".hearth-data", "logs", "models"]


def test_a_file_in_the_way_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(DataFolderReadOnly) as caught:
        DataFolder(tmp_path / "taken").prepare()
    assert "--data-dir" in caught.value.terminal
    assert (tmp_path / "taken").read_text() == "a file"


@pytest.mark.skipif(
    os.name == "nt" or os.geteuid() == 0, reason="the system does not stop this user from writing"
)
def test_a_read_only_folder_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(DataFolderReadOnly):
            DataFolder(tmp_path / "inside").prepare()
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.EROFS, DataFolderReadOnly),
        (errno.EACCES, DataFolderReadOnly),
        (errno.ENOSPC, DiskFull),
        (errno.EIO, AppError),
    ],
)
def test_each_error_of_the_system_has_its_own_words(number: int, kind: type[AppError]) -> None:
    with pytest.raises(kind) as caught, as_user_errors(Path("somewhere")):
        raise OSError(number, os.strerror(number))
    assert type(caught.value) is kind
    assert all((caught.value.what, caught.value.why, caught.value.do))
