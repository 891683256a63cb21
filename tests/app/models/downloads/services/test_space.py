"""The download queue without enough space or without a writable folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.base.errors import DiskFull
from app.models.hub import space
from app.models.hub.part import SUFFIX, PartFile
from tests.app.models.downloads.services.queues import MakeQueue, until, wanted
from tests.hub.testhub import TestHub


def test_without_room_it_does_not_begin(
    full: TestHub, make: MakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space, "SPARE", 10**18)
    queue = make()
    added = queue.add(wanted(full, 0))
    queue.start()
    now = until(queue, added.id, "paused")
    assert now.code == "disk_full"
    assert "GB" in now.do
    assert full.requests == []
    monkeypatch.setattr(space, "SPARE", 0)
    queue.resume(added.id)
    until(queue, added.id, "done")


def test_the_room_that_others_will_take_counts(tmp_path: Path) -> None:
    free = 10**9
    assert "other downloads" in space.no_room(tmp_path, 2 * 10**9, 10**9, free).why
    with pytest.raises(DiskFull):
        space.require_disk_space(tmp_path, 0, 10**18)
    space.require_disk_space(tmp_path / "not" / "there", 0, 0)


def test_a_disk_that_fills_up_pauses_and_loses_nothing(
    full: TestHub, make: MakeQueue, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    room = [500_000]
    write = PartFile.write

    def write_while_there_is_room(part: PartFile, data: bytes) -> None:
        room[0] -= len(data)
        if room[0] < 0:
            raise OSError(28, "No space left on device")
        write(part, data)

    monkeypatch.setattr(PartFile, "write", write_while_there_is_room)
    queue = make()
    added = queue.add(wanted(full, 0))
    queue.start()
    now = until(queue, added.id, "paused")
    assert now.code == "disk_full"
    (part,) = tmp_path.rglob(f"*{SUFFIX}")
    kept = part.stat().st_size
    assert 0 < kept <= 500_000
    room[0] = 10**9
    queue.resume(added.id)
    until(queue, added.id, "done")
    assert full.requests[-1].headers["range"] == f"bytes={kept}-"


def test_a_folder_that_cannot_be_written_is_told(
    full: TestHub, make: MakeQueue, tmp_path: Path
) -> None:
    (tmp_path / "hub").write_text("a file where the folder should be", encoding="utf-8")
    queue = make()
    added = queue.add(wanted(full, 0))
    queue.start()
    assert until(queue, added.id, "failed").do
