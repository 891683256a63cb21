"""The portable wheel starts on processors of 2008 to 2013, emulated, with the same text on each.

This needs qemu-user, and the wheel that installers/native/build.py has made. It takes half a
minute.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.made_gguf import STARTER
from tests.support.paths import ROOT
from tests.support.portable import WHEEL, unpack_wheel

QEMU = shutil.which("qemu-x86_64")
ASK = """
import json, sys
from pathlib import Path
from engines.cancel import CancelToken
from engines.llamacpp.devices_modules import modules_in
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.types import ChatRequest, LlamaPlan, Message, Sampling, TextDelta

engine = LlamaCppEngine()
plan = LlamaPlan(Path(sys.argv[1]), context=512, threads=1, batch_threads=1, draft_max=0)
engine.load(plan, lambda _: None, CancelToken())
greedy = Sampling(temperature=0.0)
request = ChatRequest((Message("user", "What is a token?"),), greedy, max_tokens=24)
said = "".join(it.text for it in engine.chat(request, CancelToken()) if isinstance(it, TextDelta))
engine.close()
module = modules_in(load_native().api._base_path).processor
print(json.dumps([module.stem.rpartition("-")[2], load_native().api.__file__, said]))
"""

pytestmark = [
    pytest.mark.skipif(QEMU is None, reason="no qemu-x86_64 here: apt-get install qemu-user"),
    pytest.mark.skipif(WHEEL is None, reason="no wheel: python3 installers/native/build.py"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return unpack_wheel(tmp_path_factory.mktemp("wheel"))


def ask(unpacked: Path, *emulator: str) -> Any:
    """Return the module that was loaded, and the answer."""
    child = subprocess.run(
        [*emulator, sys.executable, "-c", ASK, str(STARTER)],
        env=os.environ | {"PYTHONPATH": os.pathsep.join((str(unpacked), str(ROOT)))},
        cwd=unpacked,
        capture_output=True,
        text=True,
    )
    assert child.returncode == 0, (child.returncode, child.stderr)
    kind, loaded_from, said = json.loads(child.stdout.splitlines()[-1])
    assert Path(loaded_from).is_relative_to(unpacked), "it was another llama.cpp that answered"
    return kind, said


@pytest.mark.parametrize(
    ("processor", "module"),
    [("Nehalem", "sse42"), ("SandyBridge", "sandybridge"), ("Haswell", "haswell")],
)
def test_the_module_for_it_is_taken_and_the_text_is_that_of_this_computer(
    processor: str, module: str, unpacked: Path
) -> None:
    taken, said = ask(unpacked, str(QEMU), "-cpu", processor)
    assert taken == module
    assert said
    assert said == ask(unpacked)[1]
