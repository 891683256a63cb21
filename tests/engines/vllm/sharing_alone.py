"""Hearth as a separate process that shares a worker, to be killed or given orders.

Its arguments: the environment's folder, the engine's folder, the key of the worker, and for a real
card a model. It prints the numbers of the worker's session and guardian, then follows its input:
“ask”, or “leave SECONDS”.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from app.net.server_client import socket_client
from engines.cancel import CancelToken
from engines.hardware.detect import detect
from engines.types import VllmPlan
from engines.vllm.engine import VllmEngine
from engines.vllm.provision.home import EngineHome, Installed
from tests.engines.vllm.faked import PLAN, SHORT_GRACE_S, answer, make_engine


def main() -> None:
    words = argparse.ArgumentParser()
    words.add_argument("environment", type=Path)
    words.add_argument("folder", type=Path)
    words.add_argument("wanted")
    words.add_argument("--model", type=Path)
    words.add_argument("--context", type=int, default=8192)
    given = words.parse_args()
    engine, plan = engine_for(given.environment, given.folder, on_card=bool(given.model)), PLAN
    if given.model:
        plan = VllmPlan(given.model, given.context, draft_max=0)
    engine.share(given.wanted, "It", lambda: plan, lambda _: None, CancelToken())
    assert engine.worker is not None
    print(json.dumps([engine.worker.session, engine.worker.guardian]), flush=True)
    for line in sys.stdin:
        verb, _, told = line.strip().partition(" ")
        if verb == "leave":
            engine.leave(float(told))
            return
        print(json.dumps(answer(engine, max_tokens=2)), flush=True)


def engine_for(environment: Path, folder: Path, *, on_card: bool) -> VllmEngine:
    if (environment / "behaviour.json").exists():
        installed = Installed("0.32.0", "cpu", environment)
        return make_engine(installed, folder, grace_s=SHORT_GRACE_S)
    home = EngineHome(environment)
    if not on_card:
        return make_engine(home.current(), folder)
    return VllmEngine(home.current, folder, lambda where, _: socket_client(Path(where)), detect)


if __name__ == "__main__":
    main()
