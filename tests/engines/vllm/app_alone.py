"""Hearth as a separate process, to be killed: it loads, and prints the stages that it reaches.

Its arguments: the environment's folder, the engine's folder, the JSON of a plan's differences, and
the stand-in for wsl.exe if the environment is in the Linux “Ubuntu” of a Windows.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

from engines.cancel import CancelToken
from engines.types import TextDelta
from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.supervised import GRACE_S
from tests.engines.vllm.faked import (
    ASSISTANT,
    PLAN,
    SHORT_GRACE_S,
    make_engine,
    make_engine_inside,
    question,
)


def main() -> None:
    environment, folder, drafting = Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])
    fake = (environment / "behaviour.json").exists()
    installed = (
        Installed("0.32.0", "cpu", environment) if fake else EngineHome(environment).current()
    )
    grace_s = SHORT_GRACE_S if fake else GRACE_S
    if len(sys.argv) > 4:
        inside = Installed("0.32.0", "cpu", environment, linux="Ubuntu")
        engine = make_engine_inside(Path(sys.argv[4]), inside, folder, grace_s=grace_s)
    else:
        engine = make_engine(installed, folder, grace_s=grace_s)
    plan = replace(PLAN, drafter=ASSISTANT, draft_max=2) if drafting else PLAN

    def progress(_: float) -> None:
        if engine.worker is not None:
            worker = engine.worker
            print(json.dumps([worker.session, worker.guardian, worker.stage.words]), flush=True)

    engine.load(plan, progress, CancelToken())
    print(json.dumps("ready"), flush=True)
    sys.stdin.readline()
    for event in engine.chat(question(max_tokens=300), CancelToken()):
        if isinstance(event, TextDelta):
            print(json.dumps("streaming"), flush=True)


if __name__ == "__main__":
    main()
