"""Records of running workers on disk, by which what is left of one is ended at the next start.

A record names the guardian and the worker's mark (`marks`) before there is a worker, then its
processes by number and time of start, and its session. A session is only touched where one of them
still lives in it: then the number of the session has been in use since, and all its members belong
to the worker. Names prove nothing.

Standard library only, since the guardian writes the records.
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
"""What the names of scratch folders begin with: nothing else is ever removed."""


def write_record(
    file: Path,
    guardian: Process,
    mark: str,
    session: int,
    members: Iterable[Process],
    scratch: str,
) -> None:
    """Write the record, in one step. session: 0 before there is one. Raises OSError."""
    words = {
        "boot": boot(),
        "guardian": list(guardian.key),
        "mark": mark,
        "session": session,
        "members": sorted(it.key for it in members),
        "scratch": scratch,
    }
    with replacing(file) as unfinished:
        unfinished.write_text(json.dumps(words), encoding="utf-8")


def guarded(folder: Path) -> Iterator[tuple[int, Path]]:
    """List the workers whose guardian lives, by its number and their scratch folder."""
    for file in sorted(folder.glob("*.json")):
        record = _read(file)
        if record is not None and record["boot"] == boot() and _guardian(record):
            yield record["guardian"][0], Path(record["scratch"])


def reap(folder: Path) -> int:
    """End what is left of workers whose guardian is gone; returns how many processes."""
    return sum(reap_one(file) for file in sorted(folder.glob("*.json")))


def reap_one(file: Path, *, sure: bool = False) -> int:
    """End what is left of one worker, and remove its record; returns how many processes.

    sure: the guardian lived until now, so that the session needs no proof.
    """
    record = _read(file)
    if record is None:
        return 0
    if record["boot"] == boot():
        if _guardian(record):
            return 0  # another Hearth looks after it
        found = _left(record, sure)
        if found:
            logger.warning("%d processes of a worker were left: they are ended", len(found))
        if not kill(lambda: _left(record, sure)):
            logger.warning("some processes of session %d do not end", record["session"])
            return len(found)
        count = len(found)
    else:
        count = 0
    clear(Path(record["scratch"]))
    forget(file)
    return count


def settle(file: Path, scratch: Path) -> None:
    """Wait until nothing of a worker is left whose guardian has ended."""
    reap_one(file, sure=True)
    if not file.exists():
        clear(scratch)
        forget(file)


def forget(file: Path) -> None:
    """Remove a record, half-written ones too; one that stays is seen to at the next start."""
    for it in (file, *unfinished_of(file)):
        with contextlib.suppress(OSError):
            it.unlink()


def outlive(file: Path, deadline: float) -> None:
    """Wait until the guardian of a record has ended; it is killed at a time of the clock.

    deadline: as `time.monotonic` counts.
    """
    record = _read(file)
    if record is None or record["boot"] != boot():
        return

    while _guardian(record) and time.monotonic() < deadline:
        time.sleep(0.05)
    kill(lambda: _guardian(record))


def clear(scratch: Path) -> None:
    """Remove a worker's scratch folder, with its sockets."""
    if scratch.name.startswith(SCRATCH):
        shutil.rmtree(scratch, ignore_errors=True)


def _guardian(record: dict[str, Any]) -> list[Process]:
    """Look the guardian up by number and start; none where it has ended."""
    found = process(record["guardian"][0])
    return [found] if found is not None and [*found.key] == record["guardian"] else []


def _left(record: dict[str, Any], sure: bool) -> list[Process]:
    """List the members by number and start or mark, with their session while one is in it."""
    known = {(pid, started) for pid, started in record["members"]}
    everyone = processes()
    left = {it for it in everyone if it.key in known} | set(marked(record["mark"], everyone))
    session = record["session"]
    if session and (sure or any(it.session == session for it in left)):
        left |= {it for it in everyone if it.session == session}
    return list(left)


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
