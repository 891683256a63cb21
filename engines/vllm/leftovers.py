"""Records of running workers on disk, with which the next start ends their leftover processes.

A record names the guardian and the worker's mark (see `marks`) before the worker starts, and later
its session and its processes by id and start time. A session is killed only if a known process
still lives in it: its id has then been in use all the time, and all its members belong to the
worker. The names of processes prove nothing.

Uses the standard library only, because the guardian writes the records.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from engines.private import replacing, unfinished_of
from engines.vllm.marks import is_mark, marked
from engines.vllm.processes import Process, boot, kill, process, processes

logger = logging.getLogger(__name__)


SCRATCH: Final = "hearth-vllm-"
"""Prefix of the names of scratch folders; no other folder is ever removed."""


def write_record(
    file: Path,
    guardian: Process,
    mark: str,
    session: int,
    members: Iterable[Process],
    scratch: str,
) -> None:
    """Write the record atomically.

    Args:
        session: The worker's session; 0 before it exists.
        members: The worker's processes.

    Raises:
        OSError: The record cannot be written.
    """
    words = {
        "boot": boot(),
        "guardian": list(guardian.key),
        "mark": mark,
        "session": session,
        "members": sorted(member.key for member in members),
        "scratch": scratch,
    }
    with replacing(file) as unfinished:
        unfinished.write_text(json.dumps(words), encoding="utf-8")


def guarded(folder: Path) -> Iterator[tuple[int, Path]]:
    """Yield each worker with a living guardian, as the guardian's id and the scratch folder."""
    for file in sorted(folder.glob("*.json")):
        record = _read(file)
        if record is not None and record["boot"] == boot() and _guardian(record):
            yield record["guardian"][0], Path(record["scratch"])


def reap(folder: Path) -> int:
    """End the leftover processes of workers whose guardian is gone, and return their number."""
    return sum(reap_one(file) for file in sorted(folder.glob("*.json")))


def reap_one(file: Path, *, is_certain: bool = False) -> int:
    """End the leftover processes of one worker, remove its record, and return their number.

    Args:
        is_certain: The guardian lived until now, so the whole session belongs to the worker.
    """
    record = _read(file)
    if record is None:
        return 0
    if record["boot"] == boot():
        if _guardian(record):
            return 0  # another Hearth looks after this worker
        leftovers = _remaining(record, is_certain)
        if leftovers:
            logger.warning("%d processes of a worker were left: they are ended", len(leftovers))
        if not kill(lambda: _remaining(record, is_certain)):
            logger.warning("some processes of session %d do not end", record["session"])
            return len(leftovers)
        count = len(leftovers)
    else:
        count = 0
    clear(Path(record["scratch"]))
    forget(file)
    return count


def settle(file: Path, scratch: Path) -> None:
    """Wait until nothing is left of a worker whose guardian has ended."""
    reap_one(file, is_certain=True)
    if not file.exists():
        clear(scratch)
        forget(file)


def forget(file: Path) -> None:
    """Remove a record and unfinished copies of it; one that stays is handled at the next start."""
    for path in (file, *unfinished_of(file)):
        with contextlib.suppress(OSError):
            path.unlink()


def outlive(file: Path, deadline: float) -> None:
    """Wait until the guardian of a record has ended, and kill it at the deadline.

    Args:
        deadline: Time on the monotonic clock.
    """
    record = _read(file)
    if record is None or record["boot"] != boot():
        return

    while _guardian(record) and time.monotonic() < deadline:
        time.sleep(0.05)
    kill(lambda: _guardian(record))


def clear(scratch: Path) -> None:
    """Remove a worker's scratch folder with its sockets."""
    if scratch.name.startswith(SCRATCH):
        shutil.rmtree(scratch, ignore_errors=True)


def _guardian(record: dict[str, Any]) -> list[Process]:
    """Return the guardian in a list, or an empty list if it has ended."""
    guardian = process(record["guardian"][0])
    return [guardian] if guardian is not None and [*guardian.key] == record["guardian"] else []


def _remaining(record: dict[str, Any], is_certain: bool) -> list[Process]:
    """List the recorded or marked processes that live, and their session if one is in it."""
    recorded_keys = {(pid, started) for pid, started in record["members"]}
    all_processes = processes()
    remaining = {candidate for candidate in all_processes if candidate.key in recorded_keys} | set(
        marked(record["mark"], all_processes)
    )
    session = record["session"]
    if session and (is_certain or any(candidate.session == session for candidate in remaining)):
        remaining |= {candidate for candidate in all_processes if candidate.session == session}
    return list(remaining)


def _read(file: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        list(map(int, record["guardian"]))
        int(record["session"])
        [(int(pid), int(started)) for pid, started in record["members"]]
        str(record["boot"]), str(record["scratch"])
        if not is_mark(record["mark"]):
            raise ValueError(record["mark"])
    except FileNotFoundError:
        return None
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, RecursionError) as error:
        logger.warning("the record %s of a worker cannot be read: %s", file.name, error)
        return None
    return dict(record)
