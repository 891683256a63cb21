"""Try one file after another as the probe's process does, until one of them ends it.

It reads plans, one per line, and answers each with lines of `engines.llamacpp.probing.protocol`;
the result is the code of an error, or null.

As in the app, a template has its own process until a whole file with it has loaded: starting one
twice for each file would take longer than all the rest.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from unittest import mock

from engines.dialect import dialect
from engines.dialect.template import Renderer, Template
from engines.dialect.template_process import TemplateProcess
from engines.errors import EngineError
from engines.helper.child import lower_priority
from engines.helper.result import RESULT
from engines.llamacpp.probing.child import examine
from engines.llamacpp.probing.protocol import STAGE, read_plan

LIMIT_S = 20.0


def main() -> None:
    lower_priority()
    out = os.dup(1)
    os.dup2(2, 1)

    def begin(stage: str, _limit: float) -> None:
        os.write(out, json.dumps({STAGE: stage}).encode() + b"\n")
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)

    harmless: dict[str, Template] = {}
    tried: set[str] = set()

    def renderer(source: str) -> Renderer:
        tried.add(source)
        return harmless.get(source) or TemplateProcess(source)

    for line in sys.stdin:
        code = None
        tried.clear()
        try:
            with mock.patch.object(dialect, "TemplateProcess", renderer):
                examine(read_plan(line), begin)
            harmless |= {it: Template(it) for it in tried - harmless.keys()}
        except EngineError as found:
            code = found.code
        faulthandler.cancel_dump_traceback_later()
        os.write(out, json.dumps({RESULT: code}).encode() + b"\n")


if __name__ == "__main__":
    main()
