"""The process that tries grammars for `constraints`, under limits that the system enforces.

llguidance limits much, but not everything: a few patterns that must match together can take it
minutes, and nothing within the process could stop it. So a grammar is first compiled here. A
request is a list of grammars; the answer is a list with the fault of each, empty if there is none.
"""

from __future__ import annotations

import sys
import threading
import time

from engines.helper.child import begin_serving
from engines.llamacpp.limits import CPU_S, parser_limits

_STACK_BYTES = 512 << 10
"""Less than any thread of the app has, so a grammar that passes here passes there, too."""


def main() -> None:
    """Answer requests until standard input ends."""
    write, orders = begin_serving()
    from llguidance import LLTokenizer

    threading.stack_size(_STACK_BYTES)
    tokenizer = LLTokenizer("byte")
    for order in orders:
        _limit_time()
        found: list[str] = []
        thread = threading.Thread(target=_try, args=(tokenizer, order, found))
        thread.start()
        thread.join()
        write(found)


def _try(tokenizer: object, grammars: list[str], found: list[str]) -> None:
    from llguidance import LLMatcher

    for grammar in grammars:
        matcher = LLMatcher(tokenizer, grammar, log_level=0, limits=parser_limits())  # type: ignore[arg-type]
        if not matcher.is_error():
            matcher.compute_bitmask()
        found.append(matcher.get_error())


def _limit_time() -> None:
    """Let the system end this process if a request takes too much processor time."""
    if sys.platform == "win32":
        return
    import resource

    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(time.process_time()) + CPU_S, hard))


if __name__ == "__main__":
    main()
