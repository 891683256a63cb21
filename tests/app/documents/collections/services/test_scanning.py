"""Scanning folders for documents: which files are left out, and which count as deleted."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.documents.collections.services.scanning import ScanResult, scan
from engines.cancel import CancelToken
from engines.errors import Cancelled


def look(*paths: Path, known: tuple[Path, ...] = (), **devices: int) -> ScanResult:
    return scan(paths, known, devices, CancelToken())


def names(found: ScanResult) -> list[str]:
    return [it.name for it in found.files.values()]


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_documents_are_found_in_all_folders_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b.txt", "a/2.md", "a/1.pdf", "a/deep/er.py"):
        write(tmp_path / name)
    assert names(look(tmp_path)) == ["b.txt", "a/1.pdf", "a/2.md", "a/deep/er.py"]


def test_hidden_files_and_folders_of_version_control_are_left_out(tmp_path: Path) -> None:
    hidden = (".git/config", ".hidden/a.txt", ".a.txt", "CVS/Root", "node_modules/x.md", "~$a.docx")
    for name in (*hidden, "a.txt"):
        write(tmp_path / name)
    found = look(tmp_path)
    assert (names(found), found.left_out) == (["a.txt"], 0)


def test_files_that_are_no_documents_are_counted_and_left_out(tmp_path: Path) -> None:
    for name in ("a.PNG", "b.mp4", "c.zip", "d.exe", "e.txt"):
        write(tmp_path / name)
    found = look(tmp_path)
    assert (names(found), found.left_out) == (["e.txt"], 4)
    assert names(look(tmp_path / "a.PNG")) == ["a.PNG"], "what is added by itself is tried"


def test_files_of_two_folders_are_called_by_their_folders_too(tmp_path: Path) -> None:
    one, two = write(tmp_path / "one" / "a.txt"), write(tmp_path / "two" / "a.txt")
    alone = write(tmp_path / "b.txt")
    assert names(look(one.parent, two.parent, alone)) == ["one/a.txt", "two/a.txt", "b.txt"]


@pytest.mark.skipif(sys.platform == "win32", reason="links need a right there")
def test_a_link_in_a_circle_is_gone_through_once(tmp_path: Path) -> None:
    write(tmp_path / "a" / "x.txt")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "file.txt").symlink_to(tmp_path / "a" / "x.txt")
    found = look(tmp_path)
    assert names(found) == ["file.txt", "a/x.txt"]
    assert found.troubles == []


@pytest.mark.skipif(
    sys.platform == "win32" or not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="who may do everything meets no closed folder",
)
def test_a_folder_that_is_closed_is_named_and_its_files_are_spared(tmp_path: Path) -> None:
    write(tmp_path / "a.txt")
    shut = write(tmp_path / "shut" / "b.txt").parent
    shut.chmod(0)
    try:
        found = look(tmp_path)
    finally:
        shut.chmod(0o700)
    assert names(found) == ["a.txt"]
    assert [(it.path, it.away) for it in found.troubles] == [(shut, False)]
    assert found.spares(shut / "b.txt")
    assert not found.spares(tmp_path / "c.txt")


def test_a_folder_that_is_gone_is_taken_for_one_on_a_drive_that_was_taken_out(
    tmp_path: Path,
) -> None:
    gone = tmp_path / "drive"
    found = look(gone, known=(gone / "a.txt",))
    assert [(it.path, it.away) for it in found.troubles] == [(gone, True)]
    assert found.spares(gone / "a.txt")


def test_an_empty_folder_on_another_device_is_one_whose_drive_was_taken_out(
    tmp_path: Path,
) -> None:
    here = tmp_path.stat().st_dev
    for device, away in ((here, False), (here + 1, True)):
        found = look(tmp_path, known=(tmp_path / "a.txt",), **{str(tmp_path): device})
        assert [it.away for it in found.troubles] == [True] * away
        assert found.spares(tmp_path / "a.txt") is away


def test_a_file_that_was_added_by_itself_may_be_deleted(tmp_path: Path) -> None:
    gone = tmp_path / "a.txt"
    found = look(gone, known=(gone,))
    assert (found.troubles, found.spares(gone)) == ([], False)
    elsewhere = tmp_path / "drive" / "a.txt"
    assert look(elsewhere, known=(elsewhere,)).spares(elsewhere)


def test_a_folder_with_too_many_files_is_read_so_far(tmp_path: Path) -> None:
    for at in range(5):
        write(tmp_path / f"{at}.txt")
    found = scan([tmp_path], (), {}, CancelToken(), most=3)
    assert names(found) == ["0.txt", "1.txt", "2.txt"]
    assert "is the limit" in found.troubles[0].why


def test_a_cancel_ends_it(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        scan([tmp_path], (), {}, cancel)
