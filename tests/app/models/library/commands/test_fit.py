"""`hearth models fit`, for a model on this computer and for one on the Hub."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.base.shipped import STARTER, STARTER_DRAFTER
from tests.engines.checkpoint_files import QWEN3, write_checkpoint
from tests.hub.testhub import TestHub
from tests.support.scripted import ScriptedEngine
from tests.support.suite import sampled
from tests.support.terminal import Hearth

REPO = "ada/Guide-GGUF"


def value(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


def test_the_sum_of_a_model_here(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("models", "fit", "starter", "--json") == 0
    fit = value(capsys)
    assert (fit["verdict"], fit["exact"], fit["last_load"]) == ("fits", True, None)
    assert isinstance(parts := fit["parts"], dict)
    assert set(parts) == {"weights", "kv", "compute", "drafter", "projector"}
    assert sum(parts.values()) == fit["need_bytes"]
    assert (
        hearth("models", "fit", "starter", "--context", "1024", "--kv-type", "q8_0", "--json") == 0
    )
    small = value(capsys)
    assert small["context"] == 1024
    assert isinstance(small["parts"], dict)
    assert small["parts"]["kv"] < parts["kv"]


def test_in_words(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("models", "fit", "starter") == 0
    text = capsys.readouterr().out
    assert text.startswith("fits: It fits:")
    for words in ("Weights", "KV cache", "Drafting ahead", "llama.cpp's own"):
        assert words in text
    assert "Seeing pictures" not in text


def test_a_context_beyond_the_training_is_refused(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("models", "fit", "starter", "--context", "1000000", "--json") == 1
    assert value(capsys)["error"]["code"] == "context"  # type: ignore[index]


@pytest.mark.parametrize("words", [("ask", "Hi"), ("ask", "Hi", "--anyway")])
def test_load_anyway(hearth: Hearth, engine: ScriptedEngine, words: tuple[str, ...]) -> None:
    assert hearth(*words) == 0
    assert [plan.anyway for plan in engine.plans] == ["--anyway" in words]


class TestOnTheHub:
    @pytest.fixture(autouse=True)
    def filled(self, hub: TestHub, monkeypatch: pytest.MonkeyPatch) -> TestHub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        files = {"Guide-Q8_0.gguf": STARTER, "mtp-Guide-Q8_0.gguf": STARTER_DRAFTER}
        hub.add(REPO, files)
        return hub

    @pytest.mark.parametrize(
        "name", sampled([REPO, f"{REPO}:q8_0", f"{REPO}/Guide-Q8_0.gguf"], [f"{REPO}:q8_0"])
    )
    def test_a_model_that_is_not_here_is_judged_by_its_headers(
        self, hearth: Hearth, capsys: pytest.CaptureFixture[str], name: str
    ) -> None:
        assert hearth("models", "fit", "starter", "--json") == 0
        here = value(capsys)
        assert hearth("models", "fit", name, "--json") == 0
        there = value(capsys)
        assert there["exact"] is True
        assert there["parts"] == here["parts"]

    def test_a_checkpoint_is_judged_for_vllm_before_it_is_downloaded(
        self, hearth: Hearth, hub: TestHub, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        folder = write_checkpoint(tmp_path / "q", QWEN3, size=3_000_000)
        names = ("config.json", "model.safetensors")
        hub.add("ada/Guide-3B", {**{it: folder / it for it in names}, "tokenizer.json": b"{}"})
        assert hearth("models", "fit", "ada/Guide-3B", "--context", "2048", "--json") == 0
        fit = value(capsys)
        assert (fit["context"], fit["exact"]) == (2048, False)
        assert fit["parts"]["weights"] == 3_000_000  # type: ignore[index]
        asked = [it.path for it in hub.requests if "/resolve/" in it.path]
        assert not any("tokenizer" in it for it in asked), "only what tells its sizes"

    def test_a_quantisation_that_is_not_there(
        self, hearth: Hearth, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert hearth("models", "fit", f"{REPO}:Q2_K", "--json") == 1
        error = value(capsys)["error"]
        assert error["code"] == "model_not_found"  # type: ignore[index]
        assert "Q8_0" in error["why"]  # type: ignore[index]
