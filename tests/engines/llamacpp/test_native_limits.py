"""Hearth stops before llama.cpp would end the process. The cases run in other processes.

Elsewhere: a full context and a cancelled batch (test_engine), an empty prompt and a vocabulary with
holes (test_vocabulary), grammars (test_grammar), pairs (test_pairing), files (tests/faults).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engines.models.gguf.features import provides_input
from tests.engines.llamacpp.random_models import byte_tokenizer, write_random_llama
from tests.faults.gguf_parts import put_together, take_apart
from tests.support.made_architectures import MODELS, write_made
from tests.support.paths import ROOT
from tests.support.suite import sampled

BEGIN = """
import sys
from math import inf, nan
from pathlib import Path
from engines.cancel import CancelToken
from engines.llamacpp.engine import LlamaCppEngine
from engines.types import ChatRequest, LlamaPlan, Message, Sampling

def load(**values):
    plan = LlamaPlan(Path(sys.argv[1]), 256, 1, 1, **{"batch": 32, "draft_max": 2} | values)
    engine = LlamaCppEngine()
    engine.load(plan, lambda _: None, CancelToken())
    return engine

def ask(engine, text="Hello", sampling=Sampling(seed=1), **values):
    values = {"max_tokens": 8, "mtp": "on"} | values
    request = ChatRequest((Message("user", text),), sampling, **values)
    return list(engine.chat(request, CancelToken()))[-1]

engine = load()
context = engine.chat_model.context
vocabulary = engine.chat_model.model.vocabulary
"""
TEMPLATE = "{% for message in messages %}{{ message.content }}{% endfor %}"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "small.gguf"
    return write_random_llama(path, tokenizer=byte_tokenizer("gpt-2", TEMPLATE))


def survives(model: Path, text: str) -> str:
    """Return the output of a process that loads `model` and runs `text`, and does not crash."""
    child = ended(model, text)
    assert child.returncode == 0, child.stderr
    return child.stdout.strip()


def ended(model: Path, text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", BEGIN + text, str(model)],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


EVALUATIONS = {
    "a batch that is too big": ("[1] * 33, 0, outputs=1", "ValueError"),
    "no token with an output": ("[], 0, outputs=1", "ValueError"),
    "no token": ("[], 0, outputs=0", "-1"),
    "a token that there is not": ("[1_000_000], 0, outputs=1", "-1"),
    "a negative token": ("[-1], 0, outputs=1", "-1"),
    "more outputs than there is room for": ("[1] * 4, 0, outputs=4", "ValueError"),
    "a place behind the context": ("[1] * 32, 240, outputs=1", "0"),
}


def test_evaluations_out_of_bounds(small: Path) -> None:
    clear = "clear = lambda: context._api.llama_memory_clear(context.memory, True)\n"
    text = clear + "".join(
        f"print({case!r}, end=': ')\n"
        f"try: print(context.evaluate({arguments}))\n"
        "except ValueError: print('ValueError')\n"
        "clear()\n"
        "assert context.evaluate([1, 2], 0, outputs=1) == 0\n"
        "clear()\n"
        for case, (arguments, _) in EVALUATIONS.items()
    )
    expected = [f"{case}: {result}" for case, (_, result) in EVALUATIONS.items()]
    assert survives(small, text).splitlines() == expected


def test_a_context_is_filled_to_the_last_token_and_no_further(small: Path) -> None:
    text = "print([context.evaluate([1] * 32, at, outputs=1) for at in range(0, 257, 32)])"
    assert survives(small, text) == "[0, 0, 0, 0, 0, 0, 0, 0, 1]"


SAMPLINGS = (
    "temperature=nan", "temperature=inf", "temperature=-inf", "temperature=-1.0",
    "temperature=1e-40", "temperature=1e38", "top_k=-5", "top_k=2_000_000_000",
    "top_p=nan", "top_p=-1.0", "top_p=inf", "top_p=0.0", "min_p=nan", "min_p=2.0", "min_p=inf",
    "repeat_penalty=nan", "repeat_penalty=0.0", "repeat_penalty=-1.0", "repeat_penalty=inf",
    "repeat_penalty=1.1, repeat_last_n=2_000_000_000", "repeat_penalty=1.1, repeat_last_n=-1",
    "seed=-1", "seed=1 << 70",
)  # fmt: skip


def test_every_sampling_draws_some_token(small: Path) -> None:
    lines = [f"ask(engine, sampling=Sampling({values}))" for values in SAMPLINGS]
    assert survives(small, "\n".join([*lines, "print('done')"])) == "done"


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "60000"])
def test_weights_that_are_no_numbers_still_draw_tokens(
    small: Path, tmp_path: Path, value: str
) -> None:
    """Large files are not checked for this (see `probe_child.CHECKED_BYTES`)."""
    import numpy as np

    parts = take_apart(small.read_bytes())
    output = next(tensor for tensor in parts.tensors if tensor.name == b"output.weight")
    weights = np.frombuffer(output.data, np.float16).copy()
    weights[: len(weights) // 2] = float(value)
    output.data = weights.tobytes()
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(put_together(parts))
    samplings = ("seed=1", "temperature=0", "top_k=0, top_p=1, min_p=0", "repeat_penalty=1.5")
    lines = [f"ask(engine, sampling=Sampling({values}))" for values in samplings]
    assert survives(bad, "\n".join([*lines, "print('done')"])) == "done"


TEXTS = {
    "nothing": "''",
    "a NUL": "'a\\0b\\0'",
    "half a surrogate pair": "'\\ud800 \\udfff'",
    "the last character": "chr(0x10FFFF) * 20",
    "spaces": "' ' * 120",
    "one long word": "'x' * 120",
    "combined marks": "'e' + '\\u0301' * 100",
}


def test_any_text_is_answered_or_refused(small: Path) -> None:
    asked = "".join(
        f"print({case!r}, end=': ')\n"
        f"try: print(ask(engine, {text}).finish_reason)\n"
        "except (MessageTooLong, TemplateFailed): print('refused')\n"
        "ask(engine)\n"
        for case, text in TEXTS.items()
    )
    begin = "from engines.errors import MessageTooLong, TemplateFailed\n"
    ends = dict(line.split(": ") for line in survives(small, begin + asked).splitlines())
    assert list(ends) == list(TEXTS)
    assert set(ends.values()) <= {"stop", "length", "refused"}


def test_plans_at_their_limits_load_or_are_refused(small: Path) -> None:
    text = (
        "from engines.errors import EngineError\n"
        "for values in (dict(batch=1), dict(batch=4096), dict(draft_max=0), dict(draft_max=8),\n"
        "        dict(batch=1, draft_max=8), dict(mmap=False), dict(gpu_layers=-1),\n"
        "        dict(gpu_layers=999), dict(kv_type='q4_0'), dict(kv_type='q8_0', batch=3)):\n"
        "    engine.close()\n"
        "    try: engine = load(**values); ask(engine)\n"
        "    except EngineError as error: print(error)\n"
        "print('done')"
    )
    assert survives(small, text).endswith("done")


@pytest.mark.parametrize("name", sampled(MODELS, ("llama", "mamba", "gemma3", "gpt-oss")))
def test_only_models_that_feed_drafters_tell_what_goes_into_their_layers(
    name: str, tmp_path: Path
) -> None:
    """Any other model must not be asked for them."""
    text = (
        "context.expose_layers((0, 1))\n"
        "assert context.evaluate([1, 2], 0, outputs=1) == 0\n"
        "assert engine.chat_model.native.layers.address(context.pointer, 1)\n"
        "context.hide()\n"
        "assert context.evaluate([3], 2, outputs=1) == 0\n"
        "print('told')"
    )
    child = ended(write_made(tmp_path, name), text)
    if provides_input(MODELS[name][0]):
        assert child.stdout.strip() == "told", child.stderr
    else:
        assert "layer input tensor is null" in child.stderr
