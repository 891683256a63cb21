"""The last line of a helper: the result of its work, or the error that ended it.

It is a line of JSON, as `child.report` writes it::

    {"result": …}
    {"error": "ModelDamaged", "what": …, "why": …, "do": …, "terminal": …}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from engines.errors import EngineError

if TYPE_CHECKING:
    from engines.helper.parent import ProcessResult

RESULT: Final = "result"
ERROR: Final = "error"
_WORDS: Final = ("what", "why", "do", "terminal")


class NoResult(Exception):
    """A helper ended without a result and without an error, mostly by a crash or a limit.

    Attributes:
        ended: The end of its process.
        why: The reason, as one sentence.
    """

    def __init__(self, ended: ProcessResult) -> None:
        self.ended = ended
        self.why = (
            f"The process ended with code {ended.code}." if ended.in_time else "It did not finish."
        )
        super().__init__(self.why)


def line_of(value: object) -> bytes:
    """Return a JSON value as a line."""
    # Many bytes fewer than with escapes; `json.loads` lets half a surrogate pass, too.
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


def error_line(error: EngineError) -> dict[str, str | None]:
    """Return the last line of a helper that an error has ended."""
    return {ERROR: type(error).__name__, **{word: getattr(error, word) for word in _WORDS}}


def result_of(ended: ProcessResult) -> Any:
    """Return the result of a helper's work.

    Raises:
        EngineError: The error that ended the work, of the class that it had there.
        NoResult: There is no result.
    """
    line = _read(ended.last_line)
    if ERROR in line:
        raise _error_of(line)
    if RESULT not in line:
        raise NoResult(ended)
    return line[RESULT]


def _read(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _error_of(line: Mapping[str, Any]) -> EngineError:
    kinds: list[type[EngineError]] = [EngineError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    met = next((kind for kind in kinds if kind.__name__ == line[ERROR]), EngineError)
    what, why, do, terminal = (str(line.get(word) or "") for word in _WORDS)
    return met(what, why, do, terminal=terminal)
