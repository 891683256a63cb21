"""The measured speeds of engines on this computer, stored for their comparison."""

from __future__ import annotations

import json
import logging
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final

from app.base.folder import read_file, write_atomically
from app.runtime.values.advice import MeasuredSpeed

if TYPE_CHECKING:
    from app.activity.values.bench_results import BenchResult
    from engines.types import EngineName

_MOST_BYTES: Final = 4_000_000

_log = logging.getLogger(__name__)


class MeasuredSpeeds:
    """The latest speed of each engine, model and number of answers at once.

    A file that cannot be read counts as empty.
    """

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> tuple[MeasuredSpeed, ...]:
        """Return all stored speeds."""
        try:
            entries = json.loads(read_file(self._file, _MOST_BYTES))
            return tuple(_speed(**entry) for entry in entries)
        except FileNotFoundError:
            return ()
        except (OSError, ArithmeticError, ValueError, TypeError, RecursionError) as error:
            _log.warning("the measured speeds cannot be read: %s", error)
            return ()

    def store(self, measured: MeasuredSpeed) -> None:
        """Store a speed in place of an earlier one. Raises DataFolderReadOnly or DiskFull."""
        key = (measured.engine, measured.model, measured.at_once)
        other_speeds = [
            speed for speed in self.all() if (speed.engine, speed.model, speed.at_once) != key
        ]
        entries = [asdict(speed) for speed in (*other_speeds, measured)]
        write_atomically(self._file, json.dumps(entries, indent=1) + "\n")


def _speed(engine: EngineName, model: str, at_once: int, tokens_per_s: float) -> MeasuredSpeed:
    return MeasuredSpeed(engine, str(model), int(at_once), float(tokens_per_s))


def speed_of(result: BenchResult, model: str) -> MeasuredSpeed:
    """Return the speed of the answer to the chat prompt, in the fastest mode.

    Args:
        model: A name that is the same for every engine that has the model.
    """
    chat = next((kind for kind in result.kinds if kind.kind == "chat"), result.kinds[0])
    fastest = max(mode.decode_tok_s for mode in chat.modes)
    return MeasuredSpeed(result.runs_on, model, result.concurrency, fastest)
