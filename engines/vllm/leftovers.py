"""What is on disk of a running worker, so that what is left of it can be ended at the next start.

A record names the guardian, and the processes of the worker's session by number and time of
start. A session is only touched where one of them still lives in it: then the number of the session
has been in use since, and all its members belong to the worker. Names prove nothing.

Standard library only, since the guardian writes the records.
"""

from __future__ import annotations

import contextlib
import json
import logging
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from engines.vllm.processes import Process, boot, kill, process, processes

logger = logging.getLogger(__name__)


SCRATCH: Final = "hearth-vllm-"
"""What the names of scratch folders begin with: nothing else is ever removed."""


def write_record(
    file: Path, guardian: Process, session: int, members: Iterable[Process], scratch: str
) -> None:
    """Replaces the record before it in one step. Raises OSError."""
    words = {
        "boot": boot(),
        "guardian": list(guardian.key),
        "session": session,
        "members": sorted(it.key for it in members),
        "scratch": scratch,
    }
    unfinished = file.with_suffix(".part")
    unfinished.write_text(json.dumps(words), encoding="utf-8")
    unfinished.replace(file)


def reap(folder: Path) -> int:
    """End what is left of workers whose guardian is gone; how many processes that were."""
    return sum(reap_one(file) for file in sorted(folder.glob("*.json")))


def reap_one(file: Path, *, sure: bool = False) -> int:
    """The same for one record, which is then gone, too.

    sure: the guardian lived until now, so that the session needs no proof.
    """
    record = _read(file)
    if record is None:
        return 0
    if record["boot"] == boot():
        pid, started = record["guardian"]
        guardian = process(pid)
        if guardian is not None and guardian.started == started:
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
    with contextlib.suppress(OSError):
        file.unlink()
    return count


def clear(scratch: Path) -> None:
    """Remove a worker's scratch folder, with its sockets."""
    if scratch.name.startswith(SCRATCH):
        shutil.rmtree(scratch, ignore_errors=True)


def _left(record: dict[str, Any], sure: bool) -> list[Process]:
    """Members by number and start, and their whole session while one of them is in it."""
    known = {(pid, started) for pid, started in record["members"]}
    everyone = processes()
    members = [it for it in everyone if it.key in known]
    if sure or any(it.session == record["session"] for it in members):
        return [it for it in everyone if it.key in known or it.session == record["session"]]
    return members


def _read(file: Path) -> dict[str, Any] | None:
    try:
        record = json.loads(file.read_text(encoding="utf-8"))
        list(map(int, record["guardian"]))
        int(record["session"])
        [(int(pid), int(started)) for pid, started in record["members"]]
        str(record["boot"]), str(record["scratch"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("the record %s of a worker cannot be read: %s", file.name, error)
        return None
    return dict(record)
