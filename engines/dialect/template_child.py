"""The process that runs a chat template for `template_process`, within limits of the system.

It reports that it is ready, reads pickled requests from standard input, first the template's source
and then one conversation after the other, and answers each with a kind, a length and a text in
UTF-8. It ends when standard input does.
"""

from __future__ import annotations

import os
import pickle
import sys
from typing import Final

from engines.dialect.template import Template
from engines.dialect.template_process import (
    DONE,
    HEAD,
    LIMIT_S,
    MEMORY_BYTES,
    NO_MEMORY,
    NO_MEMORY_CODE,
    READY,
    REFUSED,
)
from engines.errors import TemplateFailed
from engines.helper.child import end_quietly
from engines.helper.clock import limit_work

HARD_LIMIT_S: Final = LIMIT_S + 2.0
"""The processor time, in seconds, after which the process ends itself if the app died."""


def main() -> None:
    """Render conversations until standard input ends."""
    end_quietly()
    _limit_memory()
    requests = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing else may write between the answers

    def answer(kind: bytes, text: str = "") -> None:
        encoded = text.encode(errors="replace")
        answers.write(HEAD.pack(kind, len(encoded)) + encoded)
        answers.flush()

    answer(READY)
    template: Template | None = None
    while True:
        try:
            request = pickle.load(requests)  # noqa: S301  written by the app
        except EOFError:
            return
        limit_work(HARD_LIMIT_S)
        kind, text = DONE, ""
        try:
            if template is None:
                template = Template(request)
            else:
                text = template.run(*request)
        except MemoryError:
            kind = NO_MEMORY
        except TemplateFailed as error:
            kind, text = REFUSED, error.why
        limit_work(None)
        answer(kind, text)


def _limit_memory() -> None:
    """Cap this process's memory at MEMORY_BYTES, on Linux; larger allocations fail."""
    if sys.platform == "linux":
        import resource

        hard = resource.getrlimit(resource.RLIMIT_DATA)[1]
        most = MEMORY_BYTES if hard == resource.RLIM_INFINITY else min(MEMORY_BYTES, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


if __name__ == "__main__":
    try:
        main()
    except MemoryError:
        os._exit(NO_MEMORY_CODE)  # memory ran out while reading a request or writing an answer
