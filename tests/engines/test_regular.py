"""Ordinary files are opened, and nothing that would block."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from engines.regular import open_regular, read_regular, read_regular_text

READERS = (open_regular, read_regular, read_regular_text)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("ä\n", encoding="utf-8")
    assert read_regular_text(path) == "ä\n"
    assert read_regular(path).decode() == path.read_bytes().decode()
    with open_regular(path) as file:
        assert file.read(1) == b"\xc3"


@pytest.mark.parametrize("read", READERS)
def test_a_folder_is_no_file(tmp_path: Path, read: Callable[[Path], object]) -> None:
    with pytest.raises(OSError, match="folder"):
        read(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no such files")
@pytest.mark.parametrize("read", READERS)
def test_a_pipe_or_a_device_is_not_waited_for(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, kind in (("pipe", "pipe"), ("link", "pipe"), ("zero", "device")):
        with pytest.raises(OSError, match=kind):
            read(tmp_path / name)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux makes sockets like that")
def test_a_socket_is_no_file(tmp_path: Path) -> None:
    os.mknod(tmp_path / "socket", stat.S_IFSOCK | 0o600)
    with pytest.raises(OSError, match="socket"):
        read_regular(tmp_path / "socket")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows lets few make links")
@pytest.mark.parametrize("target", ["circle", "nowhere"])
def test_a_link_that_leads_nowhere_says_so(tmp_path: Path, target: str) -> None:
    (tmp_path / "circle").symlink_to(tmp_path / target)
    with pytest.raises(OSError, match=r"No such file|Too many levels"):
        read_regular(tmp_path / "circle")
