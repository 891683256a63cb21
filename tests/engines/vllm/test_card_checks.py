"""The checks that are run by hand on a card work, as far as no card is needed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.engines.vllm.faked import TARGET, make_fake
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only")

ALONE = """
import sys
sys.modules.update(pytest=None, uv=None)
sys.argv[0] = "vllm_cards"
from tests.gpu import vllm_cards
sys.exit(vllm_cards.main())
"""
"""Code that runs the checks like a machine with nothing but Hearth's own needs."""


def run_checks(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", ALONE, *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def make_home(folder: Path, **behaviour: object) -> Path:
    """Make the folder of an environment that is the small server."""
    made = make_fake(folder / "versions" / "made", **behaviour)
    facts = {"version": made.version, "profile": "cpu", "lock": "cpu", "hears": False}
    (made.folder / "hearth.json").write_text(json.dumps(facts))
    (folder / "current").write_text("made\n")
    return folder


def test_they_need_neither_pytest_nor_uv() -> None:
    done = run_checks("--help")
    assert done.returncode == 0, done.stderr
    assert "--folder" in done.stdout


@pytest.mark.exhaustive
def test_parts_share_a_start_and_a_model_keeps_to_its_own_context(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", card=True, line_s=0.25)
    kept = tmp_path / "kept"
    done = run_checks(
        str(home), str(TARGET), "--folder", str(kept), "--only", "load", "many", "fp8cache"
    )
    assert "context_too_large" not in done.stdout
    rows = [line.split("|")[1:3] for line in done.stdout.splitlines() if line.startswith("| ")]
    results = {name.strip(): result.strip() for name, result in rows[1:]}
    assert results["load"] == "pass", done.stdout + done.stderr
    # The small server is as fast for eight answers as for one, and has one size of KV cache.
    assert done.stdout.count("loaded in") == 2
    assert "Compiling for this card" in done.stdout
    assert (kept / "vllm.log").exists()
