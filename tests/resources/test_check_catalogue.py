"""The check of the catalogue, against a Hub on this computer."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from app.models.discover.values.catalogue import load_catalogue
from resources.make.check_catalogue import CATALOGUE, age, main
from tests.hub.contents import Made
from tests.hub.testhub import Given, TestHub

DAY = date(2026, 11, 24)
MODEL, HEAD, CHECKPOINT = "ada/Small-GGUF", "bea/Heads-GGUF", "ada/Small"
FILES = {
    "small-Q4_K_M.gguf": Made(50_040_000),
    "small-Q8_0-00001-of-00002.gguf": Made(60_000_000),
    "small-Q8_0-00002-of-00002.gguf": Made(20_000_000),
}
HEADS = {"MTP/mtp-small-Q4_0.gguf": Made(5_000_000)}


def fact(value: Any) -> dict[str, Any]:
    return {"value": value, "certainty": "stated", "source": "us"}


def variant(quantisation: str, gb: float) -> dict[str, Any]:
    return {"repo": MODEL, "quantisation": quantisation, "gb": fact(gb), "head": False}


@pytest.fixture
def catalogue(tmp_path: Path) -> Path:
    """Write a catalogue of one model, in the layout of the shipped one."""
    size = {
        "id": "small",
        "name": "Small",
        "tier": "tiny",
        "parameters": fact(0.1),
        "active": fact(0.1),
        "good_at": "Tests.",
        "quality": fact(1),
        "variants": [variant("Q4_K_M", 0.05), variant("Q8_0", 0.08)],
        "drafter": {"repo": HEAD, "pattern": "mtp-small-*.gguf", "gb": fact(0.005)},
        "mtp": {"kind": "embedded", "help": "auto", "why": "It helps."},
        "vllm": [{"repo": CHECKPOINT, "precision": "bf16", "gb": fact(0.2)}],
        "shape": {name: fact(8) for name in ("layers", "width", "vocabulary", "context_max", "kv")},
    }
    family = {"id": "small", "name": "Small", "maker": "Ada", "sizes": [size]}
    value: dict[str, Any] = {"version": 1, "checked": None, "sources": {"us": "ourselves"}}
    value["families"] = [{**family, "licence": {"name": "mit"}}]
    path = tmp_path / "catalogue.json"
    path.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def filled(hub: TestHub, monkeypatch: pytest.MonkeyPatch) -> TestHub:
    """Fill a Hub with everything in the catalogue."""
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    hub.add(MODEL, FILES, licence="mit")
    hub.add(HEAD, HEADS)
    weights: dict[str, Given] = {"model.safetensors": Made(199_000_000), "config.json": "{}"}
    hub.add(CHECKPOINT, weights, licence="mit")
    return hub


def checked(path: Path) -> date | None:
    return load_catalogue(path.read_text(encoding="utf-8")).checked


def test_what_is_right_is_dated(
    filled: TestHub, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = catalogue.read_text(encoding="utf-8")
    assert main(catalogue, DAY) == 0
    assert capsys.readouterr().out == (
        "The catalogue has never been compared with the Hub as a whole.\n"
        "Repositories looked at: 3. Differences: 0.\n"
    )
    assert catalogue.read_text(encoding="utf-8") == before.replace("null", '"2026-11-24"', 1)
    assert main(catalogue, date(2026, 12, 4)) == 0
    assert "on 2026-11-24, 10 days ago." in capsys.readouterr().out
    assert checked(catalogue) == date(2026, 12, 4)
    assert {it.path for it in filled.requests} == {
        f"/api/models/{repo}/revision/main" for repo in (MODEL, HEAD, CHECKPOINT)
    }


def test_sizes_and_files_that_differ_are_told(
    filled: TestHub, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bare = {name: None for name in FILES if "Q8_0" in name}
    filled.change(MODEL, {**bare, "small-Q4_K_M.gguf": Made(57_000_000)})
    filled.change(HEAD, {"MTP/mtp-small-Q4_0.gguf": None, "mtp-other.gguf": Made(5_000_000)})
    filled.change(CHECKPOINT, {"model.safetensors": Made(300_000_000)})
    assert main(catalogue, DAY) == 1
    assert capsys.readouterr().out.splitlines()[1:] == [
        f"Small: {MODEL}:Q4_K_M has 0.057 GB, and the catalogue says 0.05 (us).",
        f"Small: {MODEL} has no Q8_0; it has small-Q4_K_M.gguf.",
        f"Small: {HEAD} has no mtp-small-*.gguf; it has mtp-other.gguf.",
        f"Small: {CHECKPOINT} has 0.300 GB, and the catalogue says 0.2 (us).",
        "Repositories looked at: 3. Differences: 4.",
    ]
    assert checked(catalogue) == DAY


def test_repositories_that_are_gone_renamed_or_under_other_terms_are_told(
    filled: TestHub, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.add(CHECKPOINT, {"config.json": "{}"}, licence="apache-2.0", gated="auto")
    filled.rename(MODEL, "ada/Tiny-GGUF")
    filled.rename(HEAD, "bea/Gone")
    text = catalogue.read_text(encoding="utf-8").replace(HEAD, "bea/Never")
    catalogue.write_text(text, encoding="utf-8")
    assert main(catalogue, DAY) == 1
    said = capsys.readouterr().out
    assert f"Small: {MODEL} is called ada/Tiny-GGUF now." in said
    assert "Small: bea/Never: " in said
    assert f"Small: {CHECKPOINT} needs an account." in said
    assert f"{CHECKPOINT} has the licence apache-2.0, and the catalogue says mit." in said
    assert f"Small: {CHECKPOINT} has no checkpoint." in said


def test_without_a_network_nothing_is_dated(
    filled: TestHub, catalogue: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = catalogue.read_text(encoding="utf-8")
    with filled.down():
        assert main(catalogue, DAY) == 2
    assert "The catalogue could not be checked. " in capsys.readouterr().out
    assert catalogue.read_text(encoding="utf-8") == before


def test_the_age_of_the_last_check_is_said() -> None:
    assert age(DAY, DAY).endswith("on 2026-11-24, today.")
    assert age(date(2026, 11, 23), DAY).endswith(", yesterday.")


def test_the_shipped_catalogue_can_be_dated() -> None:
    text = CATALOGUE.read_text(encoding="utf-8")
    assert text.count('\n "checked": ') == 1
