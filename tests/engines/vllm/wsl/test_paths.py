"""Paths of Windows as the Linux inside it calls them."""

from __future__ import annotations

from pathlib import PurePosixPath, PureWindowsPath

import pytest

from engines.vllm.wsl.paths import drives_at, reached

PACK = PureWindowsPath(r"C:\Users\Ada Lovelace\AppData\hearth.pyz")


@pytest.mark.parametrize(
    ("inside", "drives"),
    [
        ("/mnt/c/Users/Ada Lovelace/AppData/hearth.pyz", "/mnt"),
        ("/c/Users/Ada Lovelace/AppData/hearth.pyz", ""),
        ("/windows/drives/c/users/ada lovelace/AppData/hearth.pyz", "/windows/drives"),
    ],
)
def test_where_the_drives_are_is_told_by_one_path(inside: str, drives: str) -> None:
    assert drives_at(PACK, inside) == drives
    for path in (r"D:\models\a b", r"d:\models\a b", r"\\?\D:\models\a b"):
        assert reached(PureWindowsPath(path), drives, "Ubuntu") == f"{drives}/d/models/a b"


def test_another_path_tells_nothing() -> None:
    with pytest.raises(ValueError, match="is not"):
        drives_at(PACK, "/mnt/c/other.pyz")


def test_the_disk_of_the_distribution_itself_is_its_root() -> None:
    for host in ("wsl.localhost", "wsl$", "WSL.localhost"):
        path = PureWindowsPath(rf"\\{host}\Ubuntu\home\ada\model")
        assert reached(path, "/mnt", "Ubuntu") == "/home/ada/model"
        assert reached(path, "/mnt", "Debian") is None


def test_another_computer_is_out_of_reach() -> None:
    assert reached(PureWindowsPath(r"\\server\share\model"), "/mnt", "Ubuntu") is None


def test_on_a_linux_that_plays_windows_all_is_as_it_is() -> None:
    pack = PurePosixPath("/data/hearth.pyz")
    assert drives_at(pack, "/data/hearth.pyz") == ""
    assert reached(PurePosixPath("/models/x"), "", "Ubuntu") == "/models/x"
