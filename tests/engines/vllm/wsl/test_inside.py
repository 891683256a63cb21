"""The process that acts for Hearth in the Linux of a Windows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from engines.vllm.wsl.pack import packed
from tests.support.paths import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="they work on a Linux")


def hands(home: Path, before: str = "") -> subprocess.Popen[bytes]:
    """Start the process.

    Args:
        home: Its home folder.
        before: Code that runs first.
    """
    code = f"import sys; sys.argv[1:] = ['serve']\n{before}\nraise SystemExit(inside.main())"
    words = [sys.executable, "-c", f"from engines.vllm.wsl import inside; {code}"]
    return subprocess.Popen(
        words,
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
    )


def test_silence_ends_them_though_their_input_stays_open(tmp_path: Path) -> None:
    with hands(tmp_path, "inside._SILENCE_S = 0.5") as process:
        assert process.wait(60) == 0


def test_empty_lines_keep_them(tmp_path: Path) -> None:
    with hands(tmp_path, "inside._SILENCE_S = 1.5") as process:
        assert process.stdin is not None
        for _ in range(20):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.1)
            process.stdin.write(b"\n")
            process.stdin.flush()
        process.stdin.close()
        assert process.wait(60) == 0


def test_a_signal_ends_them_at_rest(tmp_path: Path) -> None:
    with hands(tmp_path) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.terminate()
        assert process.wait(60) == 0


def test_what_fails_says_so_and_the_next_order_is_carried_out(tmp_path: Path) -> None:
    (tmp_path / ".local").write_text("in the way")
    with hands(tmp_path) as process:
        orders = [{"do": "fill"}, {"do": "prepare"}, {"do": "used", "folder": "/nowhere"}]
        said, _ = process.communicate("\n".join(map(json.dumps, orders)).encode() + b"\n", 60)
    _, fill, prepare, used = map(json.loads, said.splitlines())
    assert fill["failed"]["lines"] == ["Nothing was begun."]
    assert "Not a directory" in prepare["failed"]["lines"][0]
    assert used == {"done": False}


def test_the_pack_is_named_after_what_is_in_it(tmp_path: Path) -> None:
    one = packed(tmp_path)
    before = one.stat().st_mtime_ns
    assert packed(tmp_path) == one
    assert one.stat().st_mtime_ns == before, "one that is in use is not written to"
    assert [it.name for it in tmp_path.iterdir()] == [one.name]
