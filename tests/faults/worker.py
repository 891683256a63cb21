"""Tries file after file as the probe's process does, until one of them ends it.

Reads plans, one a line, and answers each with lines of `engines.llamacpp.probing.protocol`.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys

from engines.errors import EngineError
from engines.helper.child import be_modest
from engines.llamacpp.probing.child import examine
from engines.llamacpp.probing.protocol import STAGE, read_plan, verdict_of

LIMIT_S = 20.0


def main() -> None:
    be_modest()
    out = os.dup(1)
    os.dup2(2, 1)

    def begin(stage: str, _limit: float) -> None:
        os.write(out, json.dumps({STAGE: stage}).encode() + b"\n")
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)

    for line in sys.stdin:
        error = None
        try:
            examine(read_plan(line), begin)
        except EngineError as found:
            error = found
        faulthandler.cancel_dump_traceback_later()
        os.write(out, json.dumps(verdict_of(error)).encode() + b"\n")


if __name__ == "__main__":
    main()
