"""The last line of a helper: the result of its work, or the error that ended it.

It is a line of JSON, as `child.report` writes it::

    {"result": …}
    {"error": "ModelDamaged", "what": …, "why": …, "do": …, "terminal": …}
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from engines.errors import EngineError
from engines.sentences import packed, unpacked

RESULT: Final = "result"
ERROR: Final = "error"
_WORDS: Final = ("what", "why", "do", "terminal")


def line_of(value: object) -> bytes:
    """Return a JSON value as a line."""
    # Many bytes fewer than with escapes; `json.loads` lets half a surrogate pass, too.
    return json.dumps(value, ensure_ascii=False).encode(errors="surrogatepass") + b"\n"


def error_line(error: EngineError) -> dict[str, str | None]:
    """Return the last line of a helper that an error has ended."""
    return {ERROR: type(error).__name__, **{word: packed(getattr(error, word)) for word in _WORDS}}


def error_of(line: Mapping[str, Any]) -> EngineError:
    """Return the error in a line, of the class that it had in the helper."""
    kinds: list[type[EngineError]] = [EngineError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    error_class = next((kind for kind in kinds if kind.__name__ == line[ERROR]), EngineError)
    what, why, do, terminal = (unpacked(str(line.get(word) or "")) for word in _WORDS)
    return error_class(what, why, do, terminal=terminal)
