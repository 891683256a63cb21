"""A log that cannot be written causes no message and stops nothing."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from engines.log_file import LogFile


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_no_matter_for_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "x.log"
    file.symlink_to("/dev/full")
    log = LogFile(file, encoding="utf-8")
    for _ in range(3):
        log.handle(logging.makeLogRecord({"msg": "a line"}))
    log.close()
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", "")


def test_once_there_is_room_again_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "x.log"
    log = LogFile(file, encoding="utf-8")
    assert log.stream is not None
    os.close(log.stream.fileno())
    log.handle(logging.makeLogRecord({"msg": "lost"}))
    log.close()
    log = LogFile(file, encoding="utf-8")
    log.handle(logging.makeLogRecord({"msg": "kept"}))
    log.close()
    assert file.read_text() == "kept\n"
