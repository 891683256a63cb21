"""Sizing a model in another process: the remembered answers, and processes that fail."""

from __future__ import annotations

import os
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled, ModelDamaged, NotSized
from engines.llamacpp.sizing.sizer import FILE_NAME, Sizer
from engines.types import LlamaPlan
from tests.engines.gguf_files import write_gguf
from tests.engines.llamacpp.random_models import STARTER
from tests.support import made_architectures
from tests.support.made_architectures import MODELS, tokenizer

PLAN = LlamaPlan(STARTER, 1024, 1, 1)
NONE = (sys.executable, "-c", "raise SystemExit('nobody is asked')")


def script(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", f"import os, signal, sys, time\n{text}")


def test_an_answer_is_remembered_from_one_start_to_the_next(tmp_path: Path) -> None:
    said = Sizer(tmp_path).buffers(PLAN, CancelToken())
    again = Sizer(tmp_path, NONE)
    assert again.known(PLAN) == again.buffers(PLAN, CancelToken()) == said
    for other in (
        replace(PLAN, context=2048),
        replace(PLAN, kv_type="q8_0"),
        replace(PLAN, draft_max=1),
        replace(PLAN, mmap=False),
        replace(PLAN, gpu_layers=1),
    ):
        assert again.known(other) is None


def test_without_a_folder_it_is_remembered_for_this_run() -> None:
    sizer = Sizer()
    assert sizer.known(PLAN) is None
    assert sizer.buffers(PLAN, CancelToken()) == sizer.known(PLAN)


def test_a_file_that_changed_is_asked_again(tmp_path: Path) -> None:
    copy = tmp_path / "model.gguf"
    copy.write_bytes(STARTER.read_bytes())
    plan, sizer = replace(PLAN, model=copy), Sizer(tmp_path)
    sizer.buffers(plan, CancelToken())
    os.utime(copy, (1, 1))
    assert sizer.known(plan) is None
    copy.unlink()
    assert sizer.known(plan) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"key": {"devices": [{"a": 1}]}}'])
def test_a_book_that_cannot_be_read_costs_an_answer(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    assert Sizer(tmp_path).buffers(PLAN, CancelToken()).total > 0


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("os.kill(os.getpid(), signal.SIGKILL)", "ended with code -9"),
        ("sys.exit(3)", "ended with code 3"),
        ("print('{\"result\": [1]}')", "unexpected answer"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", "did not finish"),
    ],
)
def test_what_goes_wrong_is_said(text: str, why: str) -> None:
    with pytest.raises(NotSized) as caught:
        Sizer(command=script(text)).buffers(PLAN, CancelToken())
    assert why in caught.value.why


def test_a_command_that_does_not_start_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotSized, match="could not say"):
        Sizer(command=(str(tmp_path / "no-such-program"),)).buffers(PLAN, CancelToken())


def test_a_model_that_ends_the_process_is_not_sized(tmp_path: Path) -> None:
    """llama.cpp does not check for this bias, and reads memory at address zero without it."""
    architecture, matrix, tensors, values = MODELS["granitehybrid"]
    shapes = {name: shape for name, shape in tensors(values).items() if "conv1d.bias" not in name}
    exact = {name for name in shapes if name.endswith(made_architectures.EXACT)}
    path = write_gguf(
        tmp_path / "m.gguf", architecture, values, shapes, tokenizer(), matrix=matrix, exact=exact
    )
    with pytest.raises(NotSized, match="ended with code"):
        Sizer().buffers(LlamaPlan(path, 512, 1, 1, draft_max=0), CancelToken())


def test_a_file_that_cannot_be_loaded_raises_what_the_load_would(tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(STARTER.read_bytes()[:300_000])
    with pytest.raises(ModelDamaged, match="not complete"):
        Sizer().buffers(replace(PLAN, model=cut), CancelToken())


def test_it_can_be_cancelled() -> None:
    cancel = CancelToken()
    timer = threading.Timer(0.2, cancel.cancel)
    timer.start()
    with pytest.raises(Cancelled):
        Sizer(command=script("time.sleep(600)")).buffers(PLAN, cancel)
    timer.join()
