"""Downloads whose process is killed at random moments: the next one gets the right bytes."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import scan_cache_dir

from app.cli.main import main
from tests.hub.contents import Made
from tests.hub.messages import Request
from tests.hub.testhub import Cdn, TestHub
from tests.support.waiting import until

REPO = "ada/Small-GGUF"
FILES = {
    "small-Q4_K_M.gguf": Made(9_000_000, seed=1, head=b"GGUF"),
    "mtp-small-Q8_0.gguf": Made(1_000_000, seed=2, head=b"GGUF"),
}
PULL = ("models", "pull", f"{REPO}:Q4_K_M", "--json")
KILLS, FEW_KILLS = 5, 2
"""How often a download is killed with `--all`, and without."""


def hearth(*words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "app", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def downloads(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    """Return the downloads of the queue, as the terminal lists them."""
    capsys.readouterr()
    assert main(["downloads", "list", "--json"]) == 0
    listed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return listed


def wait_for_one_more(asked: list[Request], before: int, process: subprocess.Popen[str]) -> None:
    """Wait for another request, or for the end of the process that would make it."""
    until(lambda: len(asked) > before or process.poll() is not None)


@pytest.mark.skipif(os.name == "nt", reason="kill -9 is of POSIX")
def test_a_killed_download_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    exhaustive: bool,
) -> None:
    chance = random.Random(1)
    cache = tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    with TestHub(cdn=Cdn()) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        hub.add(REPO, FILES)
        seen = 0
        for number in range(KILLS if exhaustive else FEW_KILLS):
            # From its first request on, and from its first byte on: on a busy computer, one may be
            # long before the other.
            asked = hub.cdn_requests if number % 2 else hub.requests
            before = len(asked)
            process = hearth(*PULL, "--limit", "2")
            wait_for_one_more(asked, before, process)
            time.sleep(chance.uniform(0.0, 1.0))
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert not list(cache.rglob("small-Q4_K_M.gguf")), "a part was taken for a model"
            listed = downloads(capsys)
            assert seen == 0 or listed, "the queue was lost"
            for download in listed:
                assert download["state"] == "waiting"
                assert download["bytes_done"] >= seen, "what had come was lost"
                seen = download["bytes_done"]
        assert seen > 1_000_000, "nothing came before the kills: the test shows nothing"
        last = hearth(*PULL)
        out, err = last.communicate()
        assert last.returncode == 0, out + err
        pulled = json.loads(out)
        ranges = [asked.headers.get("range") for asked in hub.cdn_requests]
    assert any(ranges)
    for path, made in zip(pulled["paths"], FILES.values(), strict=True):
        assert Path(path).read_bytes() == made.read(0, made.size)
    assert not scan_cache_dir(cache).warnings
