"""Files and plans that cannot be loaded: each has its own error, and does no harm."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from engines.cancel import CancelToken
from engines.errors import (
    EngineError,
    EngineFailed,
    ModelDamaged,
    ModelNotFound,
    NotAChatModel,
    NotAModel,
    NotEnoughMemory,
    TemplateFailed,
    UnknownArchitecture,
)
from engines.hardware.values import NativeDevice
from engines.llamacpp import loaded
from engines.llamacpp.context import Context
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.failures import context_failure, load_failure
from engines.llamacpp.native import Native
from engines.types import LlamaPlan
from tests.engines.contract import answer, ask, run
from tests.engines.gguf_files import write_llama
from tests.engines.llamacpp.conftest import Load
from tests.engines.llamacpp.random_models import STARTER, write_random_llama

PLAN = LlamaPlan(STARTER, context=512, threads=1, batch_threads=1)
STARTER_DRAFTER = STARTER.with_name("starter-mtp.gguf")


def refused(plan: LlamaPlan) -> EngineError:
    """Return the error of a load, after which the engine works as before."""
    engine = LlamaCppEngine()
    with pytest.raises(EngineError) as caught:
        engine.load(plan, lambda _: None, CancelToken())
    engine.load(PLAN, lambda _: None, CancelToken())
    assert answer(engine, ask("Hello"))
    engine.close()
    error = caught.value
    for part in (error.what, error.why, error.do):
        assert part.endswith(".")
        assert "llama_" not in part
    return error


def starter_up_to(path: Path, share: float) -> Path:
    data = STARTER.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    return path


def test_no_such_file(tmp_path: Path) -> None:
    assert type(refused(replace(PLAN, model=tmp_path / "none.gguf"))) is ModelNotFound


def test_something_else_than_a_model(tmp_path: Path) -> None:
    other = tmp_path / "letter.gguf"
    other.write_text("Dear reader, " * 1000)
    assert type(refused(replace(PLAN, model=other))) is NotAModel


@pytest.mark.parametrize("share", [0.001, 0.01, 0.3, 0.7, 0.99])
def test_a_truncated_model(tmp_path: Path, share: float) -> None:
    plan = replace(PLAN, model=starter_up_to(tmp_path / "part.gguf", share))
    assert type(refused(plan)) is ModelDamaged


def test_an_unknown_architecture(tmp_path: Path) -> None:
    model = tmp_path / "new.gguf"
    data = write_random_llama(model).read_bytes()
    model.write_bytes(data.replace(b"llama", b"lhama"))
    error = refused(replace(PLAN, model=model))
    assert type(error) is UnknownArchitecture
    assert "lhama" in error.why


def test_a_model_without_a_tensor_it_needs(tmp_path: Path) -> None:
    model = tmp_path / "hole.gguf"
    data = write_random_llama(model).read_bytes()
    model.write_bytes(data.replace(b"blk.1.ffn_up.weight", b"blk.1.ffn_xx.weight"))
    assert type(refused(replace(PLAN, model=model))) is ModelDamaged


def test_a_drafter_is_no_chat_model() -> None:
    assert type(refused(replace(PLAN, model=STARTER_DRAFTER))) is NotAChatModel


def test_a_model_without_a_tokenizer_is_no_chat_model(tmp_path: Path) -> None:
    error = refused(replace(PLAN, model=write_llama(tmp_path / "mute.gguf")))
    assert type(error) is NotAChatModel


@pytest.mark.parametrize("context", [20_000_000, 2_000_000_000])
def test_a_context_that_no_memory_holds(context: int) -> None:
    error = refused(replace(PLAN, context=context))
    assert type(error) is NotEnoughMemory
    assert "context" in error.what + error.do


def test_a_broken_template(tmp_path: Path) -> None:
    model = tmp_path / "template.gguf"
    data = write_random_llama(model).read_bytes()
    assert data.count(b"{%- endfor -%}") == 2
    model.write_bytes(data.replace(b"{%- endfor -%}", b"{%- endfar -%}"))
    assert type(refused(replace(PLAN, model=model))) is TemplateFailed


def test_a_failed_load_leaves_nothing_loaded(load: Load, tmp_path: Path) -> None:
    engine = load()
    with pytest.raises(ModelNotFound):
        engine.load(replace(PLAN, model=tmp_path / "none.gguf"), lambda _: None, CancelToken())
    with pytest.raises(EngineFailed):
        run(engine, ask("Hello"))


def test_a_load_that_fails_at_its_end_leaves_no_context(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Context] = []

    def broken(_api: object, context: Context, _model: object, **_: object) -> None:
        made.append(context)
        raise ZeroDivisionError

    monkeypatch.setattr(loaded, "open_caches", broken)
    with pytest.raises(ZeroDivisionError):
        LlamaCppEngine().load(PLAN, lambda _: None, CancelToken())
    assert [context.pointer for context in made] == [None]


def test_an_accelerator_is_no_graphics_card() -> None:
    kinds = ("cpu", "accelerator")
    devices = [NativeDevice(kind, kind, "made up", kind, 0, 0) for kind in kinds]
    native = cast("Native", SimpleNamespace(devices=lambda: devices))
    assert loaded.device_name(native, replace(PLAN, gpu_layers=-1)) == "CPU"
    names = ("Some GPU", "Another")
    devices += [NativeDevice(name, name, "made up", "igpu", 0, 0) for name in names]
    assert loaded.device_name(native, replace(PLAN, gpu_layers=-1)) == "Some GPU, Another"
    chosen = replace(PLAN, gpu_layers=-1, devices=("Another",))
    assert loaded.device_name(native, chosen) == "Another"
    assert loaded.device_name(native, PLAN) == "CPU"


def test_a_model_without_a_template_chats_in_chatml(load: Load, tmp_path: Path) -> None:
    engine = load(write_random_llama(tmp_path / "bare.gguf", template=False))
    run(engine, ask("Hello"))
    made = engine.chat_model
    vocabulary = made.model.vocabulary
    assert made.slots[0].cache.tokens[0] == vocabulary.bos
    text = b"".join(vocabulary.piece(token) for token in made.slots[0].cache.tokens).decode(
        "utf-8", "replace"
    )
    assert text.startswith("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (
            "llama_model_load: error loading model: unknown model architecture: 'x'",
            UnknownArchitecture,
        ),
        (
            "llama_model_load: error loading model: unknown pre-tokenizer type: 'x'",
            UnknownArchitecture,
        ),
        ("alloc_tensor_range: failed to allocate CPU buffer of size 99", NotEnoughMemory),
        ("llama_model_load: error loading model: unable to allocate CUDA0 buffer", NotEnoughMemory),
        (
            "llama_model_load: error loading model: mmap failed: Cannot allocate memory",
            NotEnoughMemory,
        ),
        (
            "llama_model_load: error loading model: Resource temporarily unavailable",
            NotEnoughMemory,
        ),
        (
            "llama_model_load: error loading model: missing tensor 'output_norm.weight'",
            ModelDamaged,
        ),
        ("llama_model_load: error loading model: something new", EngineFailed),
    ],
)
def test_what_the_log_says_becomes_an_error(line: str, error: type[EngineError]) -> None:
    failure = load_failure(Path("model.gguf"), [line, "load_from_file: failed to load model"])
    assert type(failure) is error
    assert "model.gguf" in failure.what


def test_a_kv_type_that_the_heads_do_not_divide_into() -> None:
    line = "init: K cache type q8_0 with block size 32 does not divide n_embd_head_k=80"
    failure = context_failure(Path("model.gguf"), 512, [line])
    assert type(failure) is EngineFailed
    assert "q8_0" in failure.what
    assert "f16" in failure.do


def test_complaints_of_one_thread_are_not_taken_for_anothers() -> None:
    from engines.llamacpp.log import ERROR, NativeLog

    log = NativeLog()
    with log.watch() as mine:
        log.write(ERROR, "mine\n")
        other = threading.Thread(target=log.write, args=(ERROR, "not mine\n"))
        other.start()
        other.join()
    assert mine == ["mine"]
