"""Workers that others may use: what each tells of itself on disk, and asking its guardian.

The file lies in the worker's scratch folder, which is this user's alone and goes with the worker.
It tells what was wanted of the worker, so that nobody gets another one than he wants. That it is
there proves nothing: who joins is let in by the guardian, and asks the worker for its model.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from engines.private import exposed, replace_text
from engines.types import Adapter, LoadPlan
from engines.vllm.command import WorkerPlace
from engines.vllm.leftovers import guarded, outlive, settle
from engines.vllm.places import at_socket, record_of
from engines.vllm.scratch import runs_folder
from engines.vllm.shared import ask
from engines.vllm.supervised import GRACE_S, LATE_S

logger = logging.getLogger(__name__)

_FILE: Final = "offer.json"


@dataclass(frozen=True)
class WorkerOffer:
    """A worker that others may use, as it turned out.

    wanted: what was wanted of it, see `VllmEngine.share`. name: the model's. plan: what it was
    started from. process: its first one. device: what it runs on, in words. free_bytes: on its
    cards before it was started.
    """

    wanted: str
    name: str
    plan: LoadPlan
    context: int
    load_s: float
    notes: tuple[str, ...]
    process: int
    device: str
    free_bytes: int


@dataclass(frozen=True)
class OfferedWorker:
    """An offer whose guardian lives, that has this number."""

    offer: WorkerOffer
    place: WorkerPlace
    guardian: int

    def state(self) -> tuple[int, float | None] | None:
        """Ask how many use it, and how many seconds it stays; None where it ends just now."""
        try:
            told = ask(self.place.scratch, self.guardian, "look")
            left = told["left_s"]
            return int(told["users"]), None if left is None else float(left)
        except (OSError, ValueError, LookupError):
            return None

    def end(self, *, used: bool) -> bool:
        """End it, and wait until nothing of it is left; returns whether it has ended.

        used: also where somebody uses it, or nobody can be asked whether somebody does.
        """
        try:
            told = ask(self.place.scratch, self.guardian, "stop" if used else "end")
        except (OSError, ValueError) as error:
            logger.warning("the guardian of a worker does not answer: %s", error)
            if not used:
                return False
            told = {}
        if told.get("users"):
            return False
        record = record_of(self.place)
        outlive(record, time.monotonic() + GRACE_S + LATE_S)
        settle(record, self.place.scratch)
        return True


def write_offer(place: WorkerPlace, offer: WorkerOffer) -> None:
    """Offer a worker that is ready. Raises OSError."""
    replace_text(place.scratch / _FILE, json.dumps(asdict(offer), default=str))


def withdraw_offer(place: WorkerPlace) -> None:
    """Have nobody else come to a worker. Raises OSError."""
    (place.scratch / _FILE).unlink(missing_ok=True)


def offered_workers(folder: Path) -> Iterator[OfferedWorker]:
    """List the workers with caches and log in `folder` that others may use and that live."""
    for guardian, scratch in guarded(runs_folder(folder)):
        offer = _read(scratch / _FILE)
        if offer is not None:
            yield OfferedWorker(offer, at_socket(folder, scratch), guardian)


def _read(file: Path) -> WorkerOffer | None:
    """Read an offer; None where there is none, or nobody can say who wrote it."""
    try:
        if exposed(file.parent):
            return None
        told = json.loads(file.read_text(encoding="utf-8"))
        plan, notes = _plan(told["plan"]), tuple(map(str, told["notes"]))
        return WorkerOffer(**(told | {"plan": plan, "notes": notes}))
    except FileNotFoundError:
        return None
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, RecursionError) as error:
        logger.warning("the offer of a worker cannot be read: %s", error)
        return None


def _plan(told: dict[str, Any]) -> LoadPlan:
    adapters = tuple(Adapter(it["name"], Path(it["path"])) for it in told["adapters"])
    drafter = told["drafter"]
    read = {
        "model": Path(told["model"]),
        "drafter": None if drafter is None else Path(drafter),
        "devices": tuple(told["devices"]),
        "adapters": adapters,
    }
    return LoadPlan(**(told | read))
