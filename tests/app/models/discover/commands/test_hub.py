"""`hearth models search` and `show owner/name`, with a Hub on this computer."""

from __future__ import annotations

import json

import pytest

from tests.hub.contents import Made
from tests.hub.testhub import TestHub
from tests.support.terminal import Hearth

REPO = "ada/Alpha-4B-GGUF"
HUGE = 9_000_000_000_000


@pytest.fixture(autouse=True)
def filled(hub: TestHub, monkeypatch: pytest.MonkeyPatch) -> TestHub:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    hub.add(
        REPO,
        {
            "Alpha-4B-Q4_K_M.gguf": Made(2_000_000), "Alpha-4B-Q8_0.gguf": Made(4_000_000),
            "Alpha-4B-F16-00001-of-00002.gguf": Made(HUGE),
            "Alpha-4B-F16-00002-of-00002.gguf": Made(HUGE, 1),
            "mtp-Alpha-4B-Q8_0.gguf": Made(100_000), "mmproj-BF16.gguf": Made(300_000),
        },
        licence="mit", downloads=50, likes=2, card="# Alpha\n\nHello <b>you</b>",
        pipeline_tag="image-text-to-text", gguf={"total": 4_000_000_000},
    )  # fmt: skip
    hub.add("bob/Beta-900B-MTP-GGUF", {"b-Q4_0.gguf": Made(2_000_000)}, gated="auto", downloads=9)
    return hub


def test_search(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("models", "search", "gguf", "--json") == 0
    first, second = json.loads(capsys.readouterr().out)
    assert first.pop("updated") > 0
    assert first == {
        "repo": REPO, "downloads": 50, "likes": 2, "licence": "mit", "gated": False,
        "parameters": 4_000_000_000, "mtp": False,
    }  # fmt: skip
    assert (second["repo"], second["gated"], second["mtp"]) == (
        "bob/Beta-900B-MTP-GGUF", True, True,
    )  # fmt: skip
    assert hearth("models", "search", "gguf") == 0
    text = capsys.readouterr().out
    assert "MTP, needs an account" in text


@pytest.mark.parametrize(
    ("words", "count"),
    [
        (["--fits"], 1),
        (["--mtp"], 1),
        (["--licence", "mit"], 1),
        (["--licence", "bsd"], 0),
        (["--limit", "1"], 1),
        (["--sort", "name"], 2),
    ],
)
def test_filters(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], words: list[str], count: int
) -> None:
    assert hearth("models", "search", "gguf", *words, "--json") == 0
    assert len(json.loads(capsys.readouterr().out)) == count


def test_a_repository(hearth: Hearth, filled: TestHub, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("models", "show", REPO, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["repo"], shown["revision"]) == (REPO, filled.commit(REPO))
    assert (shown["licence"], shown["gated"], shown["recommended"]) == ("mit", False, "Q8_0")
    assert shown["drafter"] == "mtp-Alpha-4B-Q8_0.gguf"
    assert shown["card"] == "# Alpha\n\nHello you"
    assert [(it["label"], it["fits"]) for it in shown["variants"]] == [
        ("Q4_K_M", "fits"), ("Q8_0", "fits"), ("F16", "no"),
    ]  # fmt: skip
    assert shown["variants"][0] == {
        "label": "Q4_K_M", "files": ["Alpha-4B-Q4_K_M.gguf"], "size_bytes": 2_000_000,
        "quality": "Good balance", "fits": "fits",
    }  # fmt: skip
    assert len(shown["variants"][2]["files"]) == 2


def test_a_repository_in_words(hearth: Hearth, capsys: pytest.CaptureFixture[str]) -> None:
    assert hearth("models", "show", f"https://huggingface.co/{REPO}") == 0
    text = capsys.readouterr().out
    for words in ("mit · 50 downloads", "Nearly the original", "too large", "recommended",
                  "Drafter: mtp-Alpha", "Hello you"):  # fmt: skip
        assert words in text


@pytest.mark.parametrize("what", [f"{REPO}:q4_k_m", f"{REPO}/Alpha-4B-Q4_K_M.gguf"])
def test_one_variant(hearth: Hearth, capsys: pytest.CaptureFixture[str], what: str) -> None:
    assert hearth("models", "show", what, "--json") == 0
    assert [it["label"] for it in json.loads(capsys.readouterr().out)["variants"]] == ["Q4_K_M"]


@pytest.mark.parametrize(
    ("what", "code", "words"),
    [
        ("ada/nothing", "repository_not_found", "There is no model"),
        (f"{REPO}:Q2_K", "repository_not_found", "Q4_K_M, Q8_0, F16"),
        ("https://example.com/ada/x", "hub_name", "other than the Hub"),
    ],
)
def test_errors(
    hearth: Hearth, capsys: pytest.CaptureFixture[str], what: str, code: str, words: str
) -> None:
    assert hearth("models", "show", what, "--json") == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["error"]["code"] == code
    assert words in said.err


def test_what_is_left_out_is_said(
    hearth: Hearth, filled: TestHub, capsys: pytest.CaptureFixture[str]
) -> None:
    filled.change(REPO, {"Alpha-4B-F16-00002-of-00002.gguf": None})
    assert hearth("models", "show", REPO, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [it["label"] for it in shown["variants"]] == ["Q4_K_M", "Q8_0"]
    assert shown["left_out"][0]["name"] == "Alpha-4B-F16, 1 of 2 parts"
    assert hearth("models", "show", REPO) == 0
    assert "Of its 2 parts these are missing: 2." in capsys.readouterr().out


def test_a_gated_repository_is_shown_without_an_account(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("models", "show", "bob/Beta-900B-MTP-GGUF") == 0
    assert "needs an account" in capsys.readouterr().out


def test_offline(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HF_ENDPOINT")
    assert hearth("--offline", "models", "search", "x", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "offline"
