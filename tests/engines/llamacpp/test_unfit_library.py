"""A llama.cpp that does not fit Hearth is refused with a sentence, here and in every child."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.made_gguf import STARTER
from tests.support.paths import ROOT
from tests.support.unfit_llama import UNFIT, unfit_llama

BEGIN = """
import json, sys
from pathlib import Path
from engines.cancel import CancelToken
from engines.errors import EngineUnavailable
from engines.hardware import NativeDevice
from engines.llamacpp.devices import Devices
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.llamacpp.probe import Probe
from engines.llamacpp.sizing.sizer import Sizer
from engines.llamacpp.trial import Trials
from engines.types import LlamaPlan

plan = LlamaPlan(Path(sys.argv[1]), 256, 1, 1)
card = NativeDevice("Vulkan0", "A card", "Vulkan", "gpu", 8 << 30, 7 << 30)

def said(work):
    try: work()
    except EngineUnavailable as error: return [error.what, error.why, error.do]
"""
ASKED = {
    "here": "load_native()",
    "here again": "load_native()",
    "engine": "LlamaCppEngine().load(plan, lambda _: None, CancelToken())",
    "devices": "Devices().list_devices()",
    "sizer": "Sizer().buffers(plan, CancelToken())",
    "probe": "Probe().require_safe(plan, CancelToken())",
}
TRIAL = """
trials = Trials(None, plan.model)
tried = trials.try_out(card, CancelToken()).why, trials.verdict(card)
"""


def run(path: str, program: str) -> Any:
    """Return the output of a process whose modules lie on this path."""
    child = subprocess.run(
        [sys.executable, "-c", BEGIN + program, str(STARTER)],
        env=os.environ | {"PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)


WHY = {
    "absent": "Its library is not installed.",
    "asks for more": "llama_of_tomorrow",
    "other bindings": "but found 0.4.0 with 0.5.0-dev.",
    "broken bindings": "differs: name 'there_is_no_such_name' is not defined.",
    "no library": "Its library does not load on this computer: ",
    "without a function": "llama_free_model",
    "without a private function": "symbols were found: llama_set_embeddings_nextn.",
    "other library": "but found 0.3.36 with 1.0.0-dev.",
    "without a dependency": "libggml-base.so: cannot open shared object file",
}


@pytest.mark.parametrize("how", [it for it in UNFIT if it != "cut off"])
def test_it_is_refused_with_what_why_and_what_to_do(how: str, tmp_path: Path) -> None:
    what, why, do = run(unfit_llama(tmp_path, how), "print(json.dumps(said(load_native)))")
    assert what == "The llama.cpp engine cannot start."
    assert WHY[how] in why
    if how.startswith(("asks", "without a f", "without a p")):
        assert "but the installed library differs: " in why
    assert why.endswith(".")
    assert "run.py" in do


@pytest.mark.parametrize("how", ["asks for more", "other bindings"])
def test_whoever_asks_for_it_gets_the_same_sentence(how: str, tmp_path: Path) -> None:
    works = ", ".join(f"{name!r}: lambda: {work}" for name, work in ASKED.items())
    program = (
        f"{TRIAL}\nworks = {{{works}}}\n"
        "print(json.dumps([{name: said(work) for name, work in works.items()}, tried]))"
    )
    found, (tried, kept) = run(unfit_llama(tmp_path, how), program)
    assert set(found) == set(ASKED)
    expected = found["here"]
    assert expected is not None
    assert [name for name, parts in found.items() if parts != expected] == []
    assert tried == f"The test failed: {expected[0]} {expected[1]}"
    assert kept is None, "the device is innocent"


@pytest.mark.skipif("cut off" not in UNFIT, reason="compiled code is changed on Linux only")
def test_one_that_ends_a_process_ends_another_than_ours(tmp_path: Path) -> None:
    program = "print(json.dumps(said(lambda: Devices().list_devices())))"
    _, why, _ = run(unfit_llama(tmp_path, "cut off"), program)
    begin = "The process that checks the devices failed. The process ended with code -"
    assert why.startswith(begin)
