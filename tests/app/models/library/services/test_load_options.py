"""Turning the settings into load options for each engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from app.base.errors import SettingsInvalid
from app.models.library.services.load_options import load_options_of, unmet
from app.settings.values.fields import Settings
from app.settings.values.named import parse_adapters
from engines.memory.load_options import LoadOptions
from engines.types import EngineName, VllmOptions

SET: dict[str, Any] = {
    "context": 2048, "threads": 3, "gpu_layers": 5, "kv_type": "q8_0", "devices": "CUDA0, CUDA1,",
    "experts_in_ram": 4, "answers_at_once": 6, "vllm_parallel": 8, "vllm_memory": 50,
    "vllm_cards": 2, "vllm_nodes": 3,
    "vllm_offload": 4, "vllm_batch": 4096, "vllm_prefix_cache": False, "vllm_depth": 3,
    "vllm_adapters": "law = /adapters/law\n\nverse=/v",
}  # fmt: skip


def settings(**values: Any) -> Settings:
    made = Settings()
    for name, value in values.items():
        made = made.changed(name, value)
    return made


def test_for_llama() -> None:
    found = load_options_of(settings(**SET))
    assert (found.context, found.threads, found.gpu_layers, found.kv_type) == (2048, 3, 5, "q8_0")
    assert (found.devices, found.experts_in_ram) == (("CUDA0", "CUDA1"), 4)
    assert (found.parallel, found.vllm, found.adapters) == (6, VllmOptions(), ())


def test_adapters_in_one_file_are_llama_cpps_and_folders_vllms() -> None:
    given = settings(vllm_adapters="law = /adapters/law\nverse = /adapters/verse.GGUF")
    assert [it.name for it in load_options_of(given).adapters] == ["verse"]
    assert [it.name for it in load_options_of(given, "vllm").adapters] == ["law"]


def test_for_vllm() -> None:
    found = load_options_of(settings(**SET), "vllm")
    assert (found.context, found.kv_type, found.parallel) == (2048, "q8_0", 8)
    assert found.depth == 3
    assert found.vllm == VllmOptions(
        memory_share=0.5,
        cards=2,
        nodes=3,
        offload_bytes=4_000_000_000,
        batched=4096,
        prefix_cache=False,
    )
    assert [(it.name, it.path) for it in found.adapters] == [
        ("law", Path("/adapters/law").absolute()),
        ("verse", Path("/v").absolute()),
    ]
    assert (found.threads, found.gpu_layers, found.devices) == (None, None, ())


def test_what_is_left_open_is_left_to_the_plan() -> None:
    assert load_options_of(settings()).parallel is None
    found = load_options_of(settings(), "vllm")
    assert (found.context, found.depth, found.vllm) == (None, None, VllmOptions())
    assert load_options_of(settings(), "vllm", depth=5).depth == 5


@pytest.mark.parametrize(
    ("engine", "other"),
    [
        ("llamacpp", {"vllm_parallel": 9}),
        ("vllm", {"threads": 9, "answers_at_once": 3}),
        ("remote", {"threads": 9}),
    ],
)
def test_what_belongs_to_another_engine_loads_nothing_anew(
    engine: EngineName, other: dict[str, Any]
) -> None:
    assert load_options_of(settings(), engine) == load_options_of(settings(**other), engine)


def test_mtp_is_settled_at_the_start_of_vllm_and_for_each_answer_of_llama() -> None:
    assert not load_options_of(settings(mtp="off"), "vllm").mtp
    assert load_options_of(settings(mtp="on"), "vllm").mtp
    lookups = [load_options_of(settings(mtp=it), "vllm").lookup for it in ("off", "auto", "on")]
    assert lookups == [False, False, True], "copied text alone is no reason to start with it"
    assert load_options_of(settings(mtp="off")).mtp
    assert load_options_of(settings(context=1024), "remote") == LoadOptions(context=1024)


@pytest.mark.parametrize("text", ["law", "= /a", "law =", "a = /b\na = /c", "model = /a"])
def test_a_line_that_names_no_adapter_is_refused(text: str) -> None:
    with pytest.raises(SettingsInvalid):
        parse_adapters(text)


def test_an_adapter_in_one_file_says_how_large_it_is(tmp_path: Path) -> None:
    (tmp_path / "style.gguf").write_bytes(bytes(100))
    named = f"style = {tmp_path / 'style.gguf'}\nlaw = {tmp_path}\ngone = {tmp_path / 'no.gguf'}"
    assert [it.size_bytes for it in parse_adapters(named)] == [100, 0, 0]


def test_what_another_engine_was_set_to_do_is_said() -> None:
    assert unmet(Settings(), "llamacpp") == unmet(Settings(), "vllm") == ()
    wished = Settings(vllm_parallel=16, vllm_memory=80, vllm_cards=2, vllm_nodes=2)
    wished = wished.changed("vllm_adapters", "law = /a\nnonsense")
    said = unmet(wished, "llamacpp")
    assert len(said) == 4
    for note, word in zip(said, ("share", "card", "this computer only", "LoRA"), strict=True):
        assert word in note
    wished = Settings(threads=2, gpu_layers=9, experts_in_ram=3, devices="a,b")
    assert len(unmet(wished, "vllm")) == 4
    assert unmet(wished, "remote") == ()
