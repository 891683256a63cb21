"""The made models fit the tests of drafting: they load, they draft, and are mostly right."""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engines.llamacpp.native import Native, load_native
from engines.models.gguf.header import read_header
from tests.support.made_gguf import NORMAL, Floats, starter_tokens
from tests.support.mtp_models import Gemma, write_gemma, write_qwen, write_step

TOKENS = 160
MTP = 1
"""LLAMA_CONTEXT_TYPE_MTP in llama.h."""

Pair = tuple[Path, Path | None]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    folder = tmp_path_factory.mktemp("made")
    layered = Gemma(per_layer=16)
    return {
        "qwen": (write_qwen(folder / "qwen.gguf"), None),
        "step": (write_step(folder / "step.gguf"), None),
        "gemma": write_gemma(folder / "gemma.gguf", folder / "drafter.gguf"),
        "layered gemma": write_gemma(folder / "layered.gguf", folder / "its.gguf", layered),
        "noisy qwen": (write_qwen(folder / "noisy.gguf", noise=1.5), None),
    }


class Running:
    """A made model with its drafter, evaluated one token at a time."""

    def __init__(self, native: Native, pair: Pair, stack: ExitStack) -> None:
        self.api = native.api
        self.extra: Any = importlib.import_module("llama_cpp.llama_cpp_ext")
        target, drafter = pair
        weights = self._load(target, stack)
        self.target = self._context(weights, stack)
        self.heads = self.api.llama_model_n_layer_nextn(weights)
        self.width = self.api.llama_model_n_embd(weights)
        self.vocabulary = self.api.llama_vocab_n_tokens(self.api.llama_model_get_vocab(weights))
        drafting = weights if drafter is None else self._load(drafter, stack)
        self.draft = self._context(drafting, stack, self.target)
        self.extra.llama_set_embeddings_nextn(self.target, True, False)
        self.extra.llama_set_embeddings_nextn(self.draft, True, True)

    def _load(self, path: Path, stack: ExitStack) -> Any:
        params = self.api.llama_model_default_params()
        params.load_mtp = True
        weights = self.api.llama_model_load_from_file(bytes(path), params)
        assert weights
        stack.callback(self.api.llama_model_free, weights)
        return weights

    def _context(self, weights: Any, stack: ExitStack, target: Any = None) -> Any:
        params = self.api.llama_context_default_params()
        params.n_ctx, params.n_batch, params.n_ubatch = 512, 16, 16
        params.n_threads = params.n_threads_batch = 1
        params.n_seq_max = params.n_outputs_max = 1
        params.swa_full = False
        if target is None:
            params.n_rs_seq = 4
        else:
            params.ctx_type, params.ctx_other = MTP, target
        context = self.api.llama_init_from_model(weights, params)
        assert context
        stack.callback(self.api.llama_free, context)
        return context

    def evaluate(self, context: Any, token: int, position: int, state: Floats | None = None) -> int:
        """Return the likeliest token after `token`."""
        int32, pointer = ctypes.c_int32, ctypes.POINTER(ctypes.c_int32)
        floats = None if state is None else state.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
        sequences = (pointer * 1)(ctypes.cast((int32 * 1)(0), pointer))
        batch = self.api.llama_batch(
            1,
            (int32 * 1)(token),
            floats,
            (int32 * 1)(position),
            (int32 * 1)(1),
            sequences,
            (ctypes.c_int8 * 1)(1),
        )
        assert self.api.llama_decode(context, batch) == 0
        logits = self.api.llama_get_logits_ith(context, 0)
        values = np.ctypeslib.as_array(logits, (self.vocabulary,))
        assert np.isfinite(values).all()
        return int(values.argmax())

    def run(self, *, head: int = 0, forget: bool = False) -> tuple[list[int], float]:
        """Return the tokens that the model writes, and the share that the drafter guessed.

        Args:
            head: The head that drafts.
            forget: True to give the drafter no hidden states.
        """
        self.extra.llama_set_nextn_layer_offset(self.draft, head)
        written = [self.evaluate(self.target, 100, 0)]
        right = 0
        for position in range(1, TOKENS + 1):
            row = self.extra.llama_get_embeddings_nextn_ith(self.target, 0)
            state = np.ctypeslib.as_array(row, (self.width,)).copy()
            if forget:
                state[:] = 0
            guess = self.evaluate(self.draft, written[-1], position, state)
            written.append(self.evaluate(self.target, written[-1], position))
            right += guess == written[-1]
        return written, right / TOKENS


@pytest.fixture
def running(models: dict[str, Pair], request: pytest.FixtureRequest) -> Iterator[Running]:
    with ExitStack() as stack:
        yield Running(load_native(), models[request.param], stack)


each = pytest.mark.parametrize("running", ["qwen", "step", "gemma", "layered gemma"], indirect=True)


def test_headers(models: dict[str, Pair]) -> None:
    for name in ("qwen", "step"):
        header = read_header(models[name][0])
        assert (header.kind, header.mtp) == ("chat", "embedded")
    for name in ("gemma", "layered gemma"):
        target, drafter = models[name]
        assert drafter is not None
        assert (read_header(target).kind, read_header(target).mtp) == ("chat", "none")
        assert (read_header(drafter).kind, read_header(drafter).mtp) == ("drafter", "drafter")


@each
def test_the_text_goes_on_and_varies(running: Running) -> None:
    written, _ = running.run()
    types = starter_tokens().types
    assert {int(types[token]) for token in written} == {NORMAL}
    assert len(set(written)) >= 30


@each
def test_most_guesses_are_right_but_not_all(running: Running) -> None:
    _, share = running.run()
    assert 0.7 <= share < 1


@pytest.mark.parametrize("running", ["qwen", "step", "gemma"], indirect=True)
def test_guesses_need_the_hidden_state(
    running: Running, models: dict[str, Pair], request: pytest.FixtureRequest
) -> None:
    written, share = running.run()
    name = request.node.callspec.params["running"]
    with ExitStack() as stack:
        again, without = Running(load_native(), models[name], stack).run(forget=True)
    assert again == written
    assert without < share - 0.08


@pytest.mark.parametrize("head", range(3))
@pytest.mark.parametrize("running", ["step"], indirect=True)
def test_each_head_guesses(running: Running, head: int) -> None:
    assert running.heads == 3
    assert running.run(head=head)[1] >= 0.7


@pytest.mark.parametrize("running", ["noisy qwen"], indirect=True)
def test_noise_makes_guesses_worse(running: Running) -> None:
    assert running.run()[1] < 0.7


@pytest.mark.parametrize(
    ("running", "steps"), [("qwen", 4), ("step", 0), ("gemma", 0)], indirect=["running"]
)
def test_only_the_recurrent_model_keeps_states_to_go_back_to(running: Running, steps: int) -> None:
    assert running.api.llama_n_rs_seq(running.target) == steps


@pytest.mark.parametrize("running", ["qwen", "gemma"], indirect=True)
def test_only_a_drafter_of_its_own_file_shares_memory(
    running: Running, request: pytest.FixtureRequest
) -> None:
    other = running.extra.llama_get_ctx_other(running.draft)
    shared = ctypes.cast(other, ctypes.c_void_p).value
    name = request.node.callspec.params["running"]
    target = ctypes.cast(running.target, ctypes.c_void_p).value
    assert (shared == target) is (name == "gemma")
