"""Files and folders that only their owner can read, new ones and existing ones."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from engines.json_cache import JsonCache
from engines.log_file import LogFile
from engines.private import (
    close_to_others,
    make_private_folder,
    private,
    replace_file,
    replace_text,
    replacing,
    unfinished_of,
)

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")


@pytest.fixture(autouse=True)
def generous() -> Iterator[None]:
    """Set a umask that takes no permission away."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def test_a_folder_and_those_above_it_are_private(tmp_path: Path) -> None:
    make_private_folder(tmp_path / "a" / "b" / "c")
    assert [mode(tmp_path / it) for it in ("a", "a/b", "a/b/c")] == [0o700] * 3


class HeldFile(type(Path())):  # type: ignore[misc]
    """A file that another program has open for a while, as on Windows."""

    held = 3

    def replace(self, target: Path) -> Path:
        if HeldFile.held:
            HeldFile.held -= 1
            raise PermissionError(13, "it is in use")
        return Path(super().replace(target))


def test_a_file_that_somebody_has_open_for_a_moment_is_waited_for(tmp_path: Path) -> None:
    source = HeldFile(tmp_path / "new")
    source.write_text("new", encoding="utf-8")
    with pytest.raises(PermissionError):
        replace_file(source, tmp_path / "old", patience_s=0.0)
    replace_file(source, tmp_path / "old", patience_s=5.0)
    assert (tmp_path / "old").read_text(encoding="utf-8") == "new"
    assert HeldFile.held == 0


def test_what_was_found_out_and_logged_is_private(tmp_path: Path) -> None:
    JsonCache(tmp_path / "kept" / "book.json").write({"a": 1})
    log = LogFile(tmp_path / "hearth.log", encoding="utf-8")
    log.close()
    assert mode(tmp_path / "kept") == 0o700
    assert mode(tmp_path / "kept" / "book.json") == mode(tmp_path / "hearth.log") == 0o600


def test_what_its_owner_may_do_stays(tmp_path: Path) -> None:
    for given, left in ((0o755, 0o700), (0o666, 0o600), (0o440, 0o400), (0o2775, 0o2700)):
        path = tmp_path / f"{given:o}"
        path.mkdir()
        path.chmod(given)
        assert close_to_others(path)
        assert mode(path) == left


def test_links_and_folders_that_all_share_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "shown").touch(mode=0o644)
    (tmp_path / "shown").chmod(0o644)
    (tmp_path / "link").symlink_to(tmp_path / "shown")
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared").chmod(0o1777)
    assert close_to_others(tmp_path / "link")
    assert not close_to_others(tmp_path / "shared")
    assert close_to_others(tmp_path / "gone")
    assert (mode(tmp_path / "shown"), mode(tmp_path / "shared")) == (0o644, 0o1777)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")
def test_what_belongs_to_another_account_is_told(tmp_path: Path) -> None:
    path = tmp_path / "theirs"
    path.touch(mode=0o600)
    os.chown(path, 12345, 12345)
    assert not close_to_others(path)


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "book.json")
    assert JsonCache(tmp_path / "book.json").read() == {}
    os.mkfifo(tmp_path / "log")
    with pytest.raises(OSError, match="log"), open(tmp_path / "log", "a", opener=private):
        pass


def test_a_file_that_is_replaced_is_private_and_changes_at_once(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    path.write_text("before")
    path.chmod(0o644)
    with replacing(path) as unfinished:
        unfinished.write_text("after")
        assert path.read_text() == "before"
        assert mode(unfinished) == 0o600
        assert unfinished_of(path) == [unfinished]
    assert (path.read_text(), mode(path)) == ("after", 0o600)
    assert list(tmp_path.iterdir()) == [path]


def test_what_was_there_stays_where_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "kept.json"
    replace_text(path, "before")

    def write() -> None:
        with replacing(path) as unfinished:
            unfinished.write_text("aft")
            raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        write()
    assert path.read_text() == "before"
    assert list(tmp_path.iterdir()) == [path]
