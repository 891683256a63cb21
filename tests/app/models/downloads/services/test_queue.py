"""The download queue with the loopback Hub: order, pause, cancel, errors, crashes."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import DownloadUnknown
from app.models.downloads.services.queue import DownloadLimits
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.part import SUFFIX, PartFile
from app.models.hub.values.hub import RepoFile
from tests.app.models.downloads.services.queues import (
    QUICK,
    REPO,
    SIZE,
    MakeQueue,
    name,
    part_of,
    sha256,
    until,
    wanted,
)
from tests.hub import faults
from tests.hub.testhub import TestHub
from tests.support import waiting


def test_files_come_and_their_paths_are_told(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    news: list[tuple[Download, list[Path], str]] = []

    def listen(download: Download, paths: list[Path]) -> None:
        news.append((download, paths, queue.download(download.id).state))

    queue.on_done = listen
    added = queue.add(wanted(full, 0, 1))
    assert (added.state, added.bytes_done) == ("waiting", 0)
    queue.start()
    now = until(queue, added.id, "done")
    assert now.bytes_done == 2 * SIZE
    ((download, paths, before),) = news
    assert (download.state, before != "done") == ("done", True)
    assert [sha256(path) for path in paths] == [file.sha256 for file in added.wanted.files]
    assert queue.paths(added.id) == paths


def test_a_listener_that_fails_does_no_harm(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    queue.on_done = lambda download, paths: 1 / 0  # type: ignore[assignment]
    added = queue.add(wanted(full, 0))
    queue.start()
    assert until(queue, added.id, "done").what == ""
    assert until(queue, queue.add(wanted(full, 1)).id, "done").bytes_done == SIZE


def test_a_small_file_is_checked_by_its_name_in_git(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    file = RepoFile("config.json", 2)
    added = queue.add(DownloadRequest(REPO, full.commit(REPO), (file,), "config"))
    queue.start()
    assert until(queue, added.id, "done", "failed").state == "done"
    assert queue.paths(added.id)[0].read_bytes() == b"{}"


@pytest.mark.parametrize("fault", [faults.Status(status=503, times=2), faults.Drop(after=-1)])
def test_a_small_file_survives_what_passes(
    full: TestHub, make: MakeQueue, fault: faults.Fault
) -> None:
    full.fault(replace(fault, path="/api/*"))
    queue = make()
    added = queue.add(
        DownloadRequest(REPO, full.commit(REPO), (RepoFile("config.json", 2),), "config")
    )
    queue.start()
    assert until(queue, added.id, "done", "failed").state == "done"


def test_a_small_file_that_nobody_describes_fails(full: TestHub, make: MakeQueue) -> None:
    full.fault(faults.Status(status=503, path="/api/*", times=None))
    queue = make()
    added = queue.add(
        DownloadRequest(REPO, full.commit(REPO), (RepoFile("config.json", 2),), "config")
    )
    queue.start()
    failed = until(queue, added.id, "done", "failed")
    assert (failed.state, failed.code) == ("failed", "hub_busy")
    assert len(full.requests) == QUICK.attempts


def test_nothing_comes_before_the_start(full: TestHub, make: MakeQueue) -> None:
    make().add(wanted(full, 0))
    assert full.requests == []


def test_the_order_is_kept_and_can_be_changed(full: TestHub, make: MakeQueue) -> None:
    queue = make(DownloadLimits(parallel=1, patience=QUICK))
    ids = [queue.add(wanted(full, number)).id for number in range(3)]
    queue.move(ids[2], 0)
    assert [it.id for it in queue.downloads()] == [ids[2], ids[0], ids[1]]
    assert [it.id for it in make().downloads()] == [ids[2], ids[0], ids[1]]
    queue.start()
    for download in ids:
        until(queue, download, "done")
    asked = [asked.path.rsplit("/", 1)[-1] for asked in full.requests]
    assert asked == [name(2), name(0), name(1)]


def test_files_come_side_by_side_but_no_more_than_allowed(full: TestHub, make: MakeQueue) -> None:
    queue = make(DownloadLimits(parallel=2, patience=QUICK))
    full.fault(faults.Stall(after=0, times=None))
    added = queue.add(wanted(full, 0, 1, 2))
    queue.start()
    waiting.until(lambda: len({asked.path for asked in full.requests}) == 2)
    queue.cancel(added.id)


def test_pause_keeps_what_came_and_resume_goes_on(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    full.fault(faults.Stall(after=1_000_000))
    added = queue.add(wanted(full, 0))
    queue.start()
    waiting.until(lambda: queue.download(added.id).bytes_done >= 1_000_000)
    queue.pause(added.id)
    assert queue.download(added.id).state == "paused"
    assert queue.download(added.id).bytes_done == 1_000_000
    queue.resume(added.id)
    until(queue, added.id, "done")
    assert full.requests[-1].headers["range"] == "bytes=1000000-"


def test_cancel_removes_what_came(full: TestHub, make: MakeQueue, tmp_path: Path) -> None:
    queue = make()
    full.fault(faults.Stall(after=1_000_000))
    added = queue.add(wanted(full, 0))
    queue.start()
    waiting.until(lambda: queue.download(added.id).bytes_done >= 1_000_000)
    queue.cancel(added.id)
    queue.close()
    assert queue.download(added.id).state == "cancelled"
    assert queue.download(added.id).bytes_done == 0
    assert not list(tmp_path.rglob(f"*{SUFFIX}*"))


def test_another_download_keeps_the_part_that_it_wants_too(
    full: TestHub, make: MakeQueue, tmp_path: Path
) -> None:
    queue = make()
    part = part_of(full, tmp_path, 1_000_000)
    first = queue.add(wanted(full, 0))
    queue.add(wanted(full, 0, 1))
    queue.cancel(first.id)
    assert part.stat().st_size == 1_000_000


def test_after_a_crash_it_waits_or_is_paused_as_it_was(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    full.fault(faults.Stall(after=500_000, times=None))
    first, second = (queue.add(wanted(full, number)) for number in (0, 1))
    queue.pause(second.id)
    queue.start()
    waiting.until(lambda: queue.download(first.id).bytes_done >= 500_000)
    queue.close()
    full.clear_faults()
    later = make()
    states = [(it.state, it.bytes_done) for it in later.downloads()]
    assert states == [("waiting", 500_000), ("paused", 0)]
    later.start()
    until(later, first.id, "done")
    assert later.download(second.id).state == "paused"
    assert full.requests[-1].headers["range"] == "bytes=500000-"


def test_what_is_there_already_is_checked_and_not_fetched(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    first = queue.add(wanted(full, 0))
    queue.start()
    until(queue, first.id, "done")
    before = len(full.requests)
    again = queue.add(wanted(full, 0))
    assert again.id != first.id
    until(queue, again.id, "done")
    assert len(full.requests) == before
    assert [it.id for it in queue.downloads()] == [again.id], "what was over went from the list"


def test_what_is_there_and_damaged_is_fetched_again(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    first = queue.add(wanted(full, 0))
    queue.start()
    until(queue, first.id, "done")
    path = queue.paths(first.id)[0]
    path.write_bytes(b"\0" * SIZE)
    again = queue.add(wanted(full, 0))
    until(queue, again.id, "done")
    assert sha256(path) == full.sha256(REPO, name(0))


def test_the_same_download_is_there_once(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    first = queue.add(wanted(full, 0))
    queue.pause(first.id)
    assert queue.add(wanted(full, 0)).id == first.id
    assert queue.download(first.id).state == "waiting"


def test_a_lasting_error_is_told_and_resume_tries_again(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    full.fault(faults.Status(status=404))
    added = queue.add(wanted(full, 0))
    queue.start()
    failed = until(queue, added.id, "failed")
    assert (failed.code, bool(failed.what and failed.why and failed.do)) == ("file_not_found", True)
    assert make().download(added.id).code == "file_not_found", "it is told after a restart, too"
    queue.resume(added.id)
    assert until(queue, added.id, "done").what == ""


def test_a_wait_between_attempts_is_told(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    full.fault(faults.Status(status=429, retry_after=100))
    added = queue.add(wanted(full, 0))
    queue.start()
    now = until(queue, added.id, "retrying")
    assert now.retry_in_s is not None
    assert 90 < now.retry_in_s <= 100
    assert now.what
    queue.pause(added.id)


def test_what_another_process_pauses_stops(full: TestHub, make: MakeQueue) -> None:
    queue, other = make(), make()
    full.fault(faults.Trickle(bytes_per_s=100_000))
    added = queue.add(wanted(full, 0))
    queue.start()
    until(queue, added.id, "running")
    other.pause(added.id)
    assert until(queue, added.id, "paused").bytes_done < SIZE


def test_a_limit_is_for_all_together(full: TestHub, make: MakeQueue) -> None:
    queue = make(DownloadLimits(limit=8_000_000, parallel=4, patience=QUICK))
    added = queue.add(wanted(full, 0, 1))
    began = time.monotonic()
    queue.start()
    until(queue, added.id, "done")
    assert time.monotonic() - began > 0.25


def test_rate_and_time_left_are_told(full: TestHub, make: MakeQueue) -> None:
    queue = make(DownloadLimits(limit=100_000, patience=QUICK))
    added = queue.add(wanted(full, 0))
    queue.start()
    waiting.until(lambda: queue.download(added.id).seconds_left is not None)
    assert 0 < (queue.download(added.id).bytes_per_s or 0) < 10_000_000
    queue.cancel(added.id)


def test_only_what_is_asked_for_begins(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    first, second = (queue.add(wanted(full, number)) for number in (0, 1))
    queue.start(only={second.id})
    until(queue, second.id, "done")
    assert queue.download(first.id).state == "waiting"


def test_an_unknown_one_is_an_error(make: MakeQueue) -> None:
    for act in (make().pause, make().resume, make().cancel, make().paths):
        with pytest.raises(DownloadUnknown):
            act("nobody")


def test_what_is_over_can_be_cleared(full: TestHub, make: MakeQueue) -> None:
    queue = make()
    first, second = (queue.add(wanted(full, number)) for number in (0, 1))
    queue.cancel(first.id)
    queue.clear_done()
    assert [it.id for it in make().downloads()] == [second.id]


def test_a_mistake_of_ours_fails_the_download_and_not_the_queue(
    full: TestHub, make: MakeQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = make()
    with monkeypatch.context() as broken:
        broken.setattr(PartFile, "reserve", lambda part: 1 / 0)
        added = queue.add(wanted(full, 0))
        queue.start()
        assert "bug in Hearth" in until(queue, added.id, "failed").why
    queue.resume(added.id)
    until(queue, added.id, "done")


def test_two_queues_at_the_same_file_fetch_it_once(full: TestHub, make: MakeQueue) -> None:
    first, second = make(), make()
    full.fault(faults.Trickle(bytes_per_s=4_000_000))
    one, other = first.add(wanted(full, 0)), second.add(wanted(full, 0, 1))
    assert one.id != other.id
    first.start(only={one.id})
    second.start(only={other.id})
    until(first, one.id, "done")
    until(second, other.id, "done")
    asked = [it.path.rsplit("/", 1)[-1] for it in full.requests if it.method == "GET"]
    assert sorted(asked) == [name(0), name(1)]
    assert first.paths(one.id)[0].samefile(second.paths(other.id)[0])
