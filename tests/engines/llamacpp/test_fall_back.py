"""A model that does not load on a graphics card is loaded on the processor, with a notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import EngineFailed, ModelRefused, NotEnoughMemory
from engines.llamacpp import engine as engine_module
from engines.llamacpp.devices_modules import Modules, card_of, modules_in
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.model import open_model
from engines.llamacpp.native import load_native
from engines.types import LlamaPlan
from tests.engines.llamacpp.random_models import STARTER

ON_A_CARD = LlamaPlan(STARTER, 512, 1, 1, gpu_layers=-1, devices=("Vulkan99",), draft_max=0)


def test_a_device_that_is_gone(load_it: LlamaCppEngine) -> None:
    loaded = load_it.load(ON_A_CARD, lambda _: None, CancelToken())
    assert loaded.device == "CPU"
    assert loaded.notes == (
        "It runs on the processor. On the graphics card: This computer has no device Vulkan99.",
    )


@pytest.mark.parametrize("error", [NotEnoughMemory, ModelRefused, EngineFailed])
def test_a_card_that_fails_while_a_model_is_loaded(
    error: type[EngineFailed], load_it: LlamaCppEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = open_model

    def fails(native: object, plan: LlamaPlan, *rest: object, **more: object) -> object:
        if plan.gpu_layers:
            raise error("It failed.", "The card is full.", "Wait.")
        return real(native, plan, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(engine_module, "open_model", fails)
    loaded = load_it.load(ON_A_CARD, lambda _: None, CancelToken())
    assert loaded.notes == ("It runs on the processor. On the graphics card: The card is full.",)


def test_on_the_processor_there_is_nothing_to_fall_back_to(
    load_it: LlamaCppEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object, **__: object) -> object:
        raise EngineFailed("It failed.", "Somehow.", "Wait.")

    monkeypatch.setattr(engine_module, "open_model", fails)
    with pytest.raises(EngineFailed, match="It failed"):
        load_it.load(LlamaPlan(STARTER, 512, 1, 1, draft_max=0), lambda _: None, CancelToken())


def test_devices_that_failed_their_trial_are_told_with_every_load() -> None:
    engine = LlamaCppEngine(left_out=lambda: ("A card is not used: It crashed.",))
    try:
        plan = LlamaPlan(STARTER, 512, 1, 1, draft_max=0)
        loaded = engine.load(plan, lambda _: None, CancelToken())
    finally:
        engine.close()
    assert loaded.notes == ("A card is not used: It crashed.",)


@pytest.fixture
def load_it() -> LlamaCppEngine:
    return LlamaCppEngine()


@pytest.fixture(autouse=True)
def closed(load_it: LlamaCppEngine) -> object:
    yield
    load_it.close()


class TestModules:
    def test_cards_are_found_beside_the_library_the_better_first(self, tmp_path: Path) -> None:
        for name in ("libggml-base.so", "libggml.so", "libggml-vulkan.so", "libggml-cuda.so"):
            (tmp_path / name).touch()
        assert modules_in(tmp_path) == Modules(
            None, (tmp_path / "libggml-cuda.so", tmp_path / "libggml-vulkan.so")
        )

    @pytest.mark.parametrize(
        ("file", "card"),
        [
            ("libggml-vulkan.so", "vulkan"),
            ("ggml-cuda.dll", "cuda"),
            ("libggml-cpu-armv8.2_1.so", None),
            ("libggml-base.so", None),
            ("libvulkan.so.1", None),
        ],
    )
    def test_a_module_for_cards_is_known_by_its_name(self, file: str, card: str | None) -> None:
        assert card_of(Path(file)) == card

    def test_those_for_processors_may_have_a_dot_in_their_names(self, tmp_path: Path) -> None:
        """The modules of llama.cpp for ARM have one."""
        real = modules_in(load_native().folder).processor
        assert real is not None
        copy = tmp_path / "libggml-cpu-armv8.2_1.so"
        copy.write_bytes(real.read_bytes())
        assert modules_in(tmp_path).processor == copy

    def test_one_for_the_processor_is_loaded_as_it_is(self) -> None:
        folder = load_native().folder
        found = modules_in(folder).processor
        assert found is not None
        assert found.name.removeprefix("lib").startswith("ggml-cpu")

    def test_all_that_is_compiled_in_is_there_at_once(self) -> None:
        native = load_native()
        assert any(device.kind == "cpu" for device in native.devices())
        assert native.device("CPU")
        assert native.device("Vulkan99") is None
