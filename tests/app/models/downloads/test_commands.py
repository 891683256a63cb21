"""`hearth models pull` and `hearth downloads`, with the loopback Hub."""

from __future__ import annotations

import json
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import hf_hub_download

from app.models.downloads import commands as pull
from app.models.hub.part import SUFFIX, arrived
from app.models.hub.retry import Patience
from app.models.library.services.fitting import Fitting
from tests.engines.checkpoint_files import DRAFTER, TARGET
from tests.hub import faults
from tests.hub.contents import Made
from tests.hub.testhub import TestHub
from tests.support.terminal import Hearth
from tests.support.waiting import until

REPO = "ada/Small-GGUF"
MODEL = "small-Q4_K_M.gguf"
ALONG = "mtp-small-Q8_0.gguf"
PARTS = ("large-Q8_0-00001-of-00002.gguf", "large-Q8_0-00002-of-00002.gguf")


def made(seed: int, size: int = 400_000) -> Made:
    return Made(size, seed=seed, head=b"GGUF")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.setattr(pull, "Patience", lambda *_, **__: Patience(3, 0.01, 0.02))
    return cache


@pytest.fixture
def full(hub: TestHub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> TestHub:
    monkeypatch.setenv("HF_ENDPOINT", hub.url)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    hub.add(REPO, {MODEL: made(1), ALONG: made(2)} | {part: made(3) for part in PARTS})
    return hub


def value(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_model_comes_with_what_belongs_to_it(
    full: TestHub, cache: Path, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("models", "pull", f"{REPO}:q4_k_m", "--json") == 0
    told = value(capsys)
    assert told == {
        "repo": REPO,
        "revision": full.commit(REPO),
        "files": [MODEL, ALONG],
        "paths": told["paths"],
        "bytes": 800_000,
        "sha256_verified": True,
    }
    for path, seed in zip(told["paths"], (1, 2), strict=True):
        assert Path(path).read_bytes() == made(seed).read(0, 400_000)
    assert hf_hub_download(REPO, MODEL, cache_dir=cache, local_files_only=True) == told["paths"][0]


SEEING = "google/gemma-4-E2B-it-qat-q4_0-gguf"
"""A repository for which the catalogue names a projector."""


@pytest.mark.parametrize(
    ("repo", "words", "comes"),
    [
        (REPO, (), False),
        (REPO, ("--projector",), True),
        (SEEING, (), True),
        (SEEING, ("--no-projector",), False),
    ],
)
def test_a_projector_comes_along_where_it_is_the_catalogues_or_asked_for(
    full: TestHub,
    hearth: Hearth,
    capsys: pytest.CaptureFixture[str],
    repo: str,
    words: tuple[str, ...],
    comes: bool,
) -> None:
    full.add(repo, {MODEL: made(1), "mmproj-BF16.gguf": made(4), "mmproj-F16.gguf": made(5)})
    assert hearth("models", "pull", f"{repo}:q4_k_m", *words, "--json") == 0
    files = value(capsys)["files"]
    assert files == ([MODEL, "mmproj-F16.gguf"] if comes else [MODEL])


def test_all_parts_of_a_split_model_come(
    full: TestHub, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("models", "pull", f"{REPO}/{PARTS[0]}", "--json") == 0
    assert value(capsys)["files"][:2] == list(PARTS)


def test_what_is_recommended_comes(
    full: TestHub,
    hearth: Hearth,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the smallest fits; `pull` follows the same rule as `show`."""
    monkeypatch.setattr(Fitting, "quick", lambda _, size: "fits" if size < 700_000 else "no")
    full.change(REPO, {"small-Q2_K.gguf": made(4, 100_000), MODEL: made(1, 4_000_000)})
    assert hearth("models", "show", REPO, "--json") == 0
    recommended = value(capsys)["recommended"]
    assert hearth("models", "pull", REPO, "--json") == 0
    assert value(capsys)["files"][0] == f"small-{recommended}.gguf" == "small-Q2_K.gguf"


def test_a_sidecar_can_be_asked_for_alone(
    full: TestHub, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("models", "pull", f"{REPO}/{ALONG}", "--json") == 0
    assert value(capsys)["files"] == [ALONG]


def test_without_a_quantisation_one_is_recommended(
    full: TestHub, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("models", "pull", REPO, "--json") == 0
    assert value(capsys)["files"]


def test_a_revision_is_kept_by_its_name(
    full: TestHub, cache: Path, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    commit = full.commit(REPO)
    full.change(REPO, {MODEL: made(9)})
    assert hearth("models", "pull", f"{REPO}/{MODEL}", "--revision", commit, "--json") == 0
    assert value(capsys)["revision"] == commit
    assert not list(cache.rglob("refs"))


@pytest.mark.parametrize("asked", [f"{REPO}:Q2_K", f"{REPO}/nothing.gguf"])
def test_what_is_not_there_is_said(
    full: TestHub, hearth: Hearth, capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    assert hearth("models", "pull", asked, "--json") == 1
    error = value(capsys)["error"]
    assert error["code"] == "file_not_found"
    assert "Q4_K_M" in error["why"]


def test_an_error_of_the_download_is_the_command_s(
    full: TestHub, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    full.fault(faults.Status(status=503, path=f"*{MODEL}", times=None))
    assert hearth("models", "pull", f"{REPO}/{MODEL}", "--json") == 1
    assert value(capsys)["error"]["code"] == "server_failed"


def test_ctrl_c_keeps_what_came_and_says_how_to_go_on(
    full: TestHub, cache: Path, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    full.fault(faults.Stall(after=100_000, path=f"*{MODEL}"))

    blobs = cache / f"models--{REPO.replace('/', '--')}" / "blobs"
    part = blobs / f"{full.sha256(REPO, MODEL)}{SUFFIX}"

    def interrupt() -> None:
        until(lambda: arrived(part)[0] >= 100_000)
        signal.raise_signal(signal.SIGINT)

    other = threading.Thread(target=interrupt)
    other.start()
    assert hearth("models", "pull", f"{REPO}:Q4_K_M") == 130
    other.join()
    assert f"hearth models pull {REPO}:Q4_K_M" in capsys.readouterr().err
    assert hearth("downloads", "list", "--json") == 0
    (download,) = value(capsys)
    assert download["state"] == "paused"
    assert download["bytes_done"] >= 100_000
    assert hearth("downloads", "resume", download["id"], "--json") == 0
    assert value(capsys)["sha256_verified"]


def test_downloads_can_be_paused_and_cancelled_by_id(
    full: TestHub, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    full.fault(faults.Status(status=404, path=f"*{MODEL}"))
    assert hearth("models", "pull", f"{REPO}/{MODEL}") == 1
    capsys.readouterr()
    hearth("downloads", "list", "--json")
    (download,) = value(capsys)
    assert (download["state"], download["code"]) == ("failed", "file_not_found")
    assert hearth("downloads", "cancel", download["id"]) == 0
    assert "cancelled" in capsys.readouterr().out
    assert hearth("downloads", "pause", "nobody", "--json") == 1
    assert value(capsys)["error"]["code"] == "download_not_found"


def test_a_checkpoint_comes_whole_and_pairs_with_its_assistant(
    full: TestHub, cache: Path, hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    for repo, folder in (("ada/tiny-it", TARGET), ("ada/tiny-it-assistant", DRAFTER)):
        files = {it.name: it.read_bytes() for it in folder.iterdir()}
        full.add(repo, {**files, "README.md": b"# Tiny", "original/w.safetensors": b"no"})
        assert hearth("models", "pull", repo, "--json") == 0
        assert set(value(capsys)["files"]) == set(files)
    assert hearth("models", "show", "ada/tiny-it", "--json") == 0
    told = value(capsys)
    assert (told["engine"], told["repo"], told["mtp"]["kind"]) == ("vllm", "ada/tiny-it", "drafter")
