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
            found = json.loads(read_file(self._file, _MOST_BYTES))
            return tuple(_speed(**it) for it in found)
        except FileNotFoundError:
            return ()
        except (OSError, ArithmeticError, ValueError, TypeError, RecursionError) as error:
            _log.warning("what was measured before cannot be read: %s", error)
            return ()

    def keep(self, measured: MeasuredSpeed) -> None:
        """Store a speed in place of an earlier one. Raises DataFolderReadOnly or DiskFull."""
        key = (measured.engine, measured.model, measured.at_once)
        others = [it for it in self.all() if (it.engine, it.model, it.at_once) != key]
        kept = [asdict(it) for it in (*others, measured)]
        write_atomically(self._file, json.dumps(kept, indent=1) + "\n")


def _speed(engine: EngineName, model: str, at_once: int, tokens_per_s: float) -> MeasuredSpeed:
    return MeasuredSpeed(engine, str(model), int(at_once), float(tokens_per_s))


def speed_of(result: BenchResult, model: str) -> MeasuredSpeed:
    """Return the speed of the answer to the chat prompt, in the fastest mode.

    Args:
        model: A name that is the same for every engine that has the model.
    """
    chat = next((it for it in result.kinds if it.kind == "chat"), result.kinds[0])
    fastest = max(mode.decode_tok_s for mode in chat.modes)
    return MeasuredSpeed(result.runs_on, model, result.concurrency, fastest)
