"""Hearth as a process of its own that shares a worker, to be killed or told what to do.

Its words: the environment's folder, the engine's folder, and what is wanted. It prints the numbers
of the worker's session and guardian, then does what its input says: “ask”, or “leave SECONDS”.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from engines.cancel import CancelToken
from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.supervised import GRACE_S
from tests.engines.vllm.faked import PLAN, SHORT_GRACE_S, answer, make_engine


def main() -> None:
    environment, folder, wanted = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    fake = (environment / "behaviour.json").exists()
    installed = (
        Installed("0.32.0", "cpu", environment) if fake else EngineHome(environment).current()
    )
    engine = make_engine(installed, folder, grace_s=SHORT_GRACE_S if fake else GRACE_S)
    engine.share(wanted, "It", lambda: PLAN, lambda _: None, CancelToken())
    assert engine.worker is not None
    print(json.dumps([engine.worker.session, engine.worker.guardian]), flush=True)
    for line in sys.stdin:
        verb, _, told = line.strip().partition(" ")
        if verb == "leave":
            engine.leave(float(told))
            return
        print(json.dumps(answer(engine, max_tokens=2)), flush=True)


if __name__ == "__main__":
    main()
