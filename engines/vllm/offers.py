"""Workers that others can use: the file that describes each, and the requests to its guardian.

The file lies in the worker's scratch folder, which only this user can read and which goes with the
worker. It records the settings that the worker was started for, so that nobody joins a worker with
other settings. The file alone proves nothing: the guardian has to let the new user in, and the
worker has to answer for its model.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from engines.private import readable_by_others, replace_text
from engines.sentences import packed, unpacked
from engines.types import Adapter, VllmOptions, VllmPlan
from engines.vllm.command import WorkerPlace
from engines.vllm.leftovers import guarded, outlive, settle
from engines.vllm.places import at_socket, record_of
from engines.vllm.scratch import runs_folder
from engines.vllm.shared import send_command
from engines.vllm.supervised import GRACE_S, LATE_S

logger = logging.getLogger(__name__)

_FILE: Final = "offer.json"


@dataclass(frozen=True)
class WorkerOffer:
    """A description of a worker that others can use, as it was actually started.

    Attributes:
        wanted: The request that it was started for; see `VllmEngine.share`.
        name: Name of the model.
        plan: Plan that it was started from.
        context: Context in tokens.
        load_s: Seconds that the start took.
        process: Id of its first process.
        device: Description of the devices that it runs on.
        free_bytes: Free memory on its cards before it was started.
    """

    wanted: str
    name: str
    plan: VllmPlan
    context: int
    load_s: float
    notes: tuple[str, ...]
    process: int
    device: str
    free_bytes: int


@dataclass(frozen=True)
class OfferedWorker:
    """An offer whose guardian is alive, with the guardian's process id."""

    offer: WorkerOffer
    place: WorkerPlace
    guardian: int

    def state(self) -> tuple[int, float | None] | None:
        """Return the number of users and the seconds that it stays; None if it is just ending."""
        try:
            reply = send_command(self.place.scratch, self.guardian, "look")
            left = reply["left_s"]
            return int(reply["users"]), None if left is None else float(left)
        except (OSError, ValueError, LookupError):
            return None

    def end(self, *, force: bool) -> bool:
        """End the worker, wait until nothing of it is left, and return whether it has ended.

        Args:
            force: End it even if somebody uses it, or if its guardian does not answer.
        """
        try:
            reply = send_command(self.place.scratch, self.guardian, "stop" if force else "end")
        except (OSError, ValueError) as error:
            logger.warning("the guardian of a worker does not answer: %s", error)
            if not force:
                return False
            reply = {}
        if reply.get("users"):
            return False
        record = record_of(self.place)
        outlive(record, time.monotonic() + GRACE_S + LATE_S)
        settle(record, self.place.scratch)
        return True


def write_offer(place: WorkerPlace, offer: WorkerOffer) -> None:
    """Offer a worker that is ready to other Hearth processes. Raises OSError."""
    replace_text(place.scratch / _FILE, json.dumps(packed(asdict(offer)), default=str))


def withdraw_offer(place: WorkerPlace) -> None:
    """Remove the offer, so that nobody else joins the worker. Raises OSError."""
    (place.scratch / _FILE).unlink(missing_ok=True)


def offered_workers(folder: Path) -> Iterator[OfferedWorker]:
    """Yield the living workers on offer whose caches and log lie in `folder`."""
    for guardian, scratch in guarded(runs_folder(folder)):
        offer = _read(scratch / _FILE)
        if offer is not None:
            yield OfferedWorker(offer, at_socket(folder, scratch), guardian)


def _read(file: Path) -> WorkerOffer | None:
    """Read an offer; return None if there is none, or if another user could have written it."""
    try:
        if readable_by_others(file.parent):
            return None
        fields = unpacked(json.loads(file.read_text(encoding="utf-8")))
        plan, notes = _plan(fields["plan"]), tuple(map(str, fields["notes"]))
        return WorkerOffer(**(fields | {"plan": plan, "notes": notes}))
    except FileNotFoundError:
        return None
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, RecursionError) as error:
        logger.warning("the offer of a worker cannot be read: %s", error)
        return None


def _plan(fields: dict[str, Any]) -> VllmPlan:
    adapters = tuple(
        Adapter(adapter["name"], Path(adapter["path"])) for adapter in fields["adapters"]
    )
    drafter = fields["drafter"]
    converted = {
        "model": Path(fields["model"]),
        "drafter": None if drafter is None else Path(drafter),
        "adapters": adapters,
        "options": VllmOptions(**fields["options"]),
    }
    return VllmPlan(**(fields | converted))
