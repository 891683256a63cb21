"""What is compiled at every start is kept, and never taken for something else."""

from __future__ import annotations

import builtins
import marshal
import os
import subprocess
import sys
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any

import pytest

from app.kept_code import KeptCode

ROOT = Path(__file__).resolve().parents[2]
SOURCE = b"answer = 6 * 7"


@pytest.fixture(autouse=True)
def _bytecode_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)


def answer(place: Path, source: bytes = SOURCE, **settings: Any) -> object:
    """What `source` makes of `answer` if it is compiled by way of `place`."""
    with KeptCode(place, **settings):
        code = compile(source, "made.py", "exec")
    scope: dict[str, object] = {}
    exec(code, scope)
    return scope.get("answer")


def keep(place: Path, source: bytes, other: str) -> None:
    """Have `place` hold what `other` says for `source`, so that taking it is seen."""
    codes = {("made.py", source): compile(other, "made.py", "exec")}
    place.write_bytes(MAGIC_NUMBER + marshal.dumps(codes))


def test_what_was_kept_is_taken_for_the_same_source_alone(tmp_path: Path) -> None:
    place = tmp_path / "codes.kept"
    keep(place, SOURCE, "answer = 'kept'")
    assert answer(place) == "kept"
    assert answer(place, b"answer = 43") == 43


def test_what_is_no_longer_asked_for_goes(tmp_path: Path) -> None:
    place = tmp_path / "codes.kept"
    keep(place, SOURCE, "answer = 'of an older one'")
    assert answer(place, b"answer = 43") == 43
    assert answer(place) == 42


def test_what_is_new_is_written_and_compile_is_as_before(tmp_path: Path) -> None:
    before = builtins.compile
    place = tmp_path / "not yet there" / "codes.kept"
    assert answer(place) == 42
    assert builtins.compile is before
    assert [it.name for it in place.parent.iterdir()] == ["codes.kept"]
    assert answer(place) == 42


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"of another Python",
        MAGIC_NUMBER,
        MAGIC_NUMBER + marshal.dumps({("made.py", SOURCE): compile("", "", "exec")})[:-9],
        MAGIC_NUMBER + marshal.dumps(["no", "codes"]),
    ],
)
def test_a_file_that_is_none_of_ours_costs_nothing_but_time(tmp_path: Path, content: bytes) -> None:
    place = tmp_path / "codes.kept"
    place.write_bytes(content)
    assert answer(place) == 42
    assert place.read_bytes().startswith(MAGIC_NUMBER)


def test_where_nothing_can_be_written_all_is_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    assert answer(tmp_path / "file" / "codes.kept") == 42
    (tmp_path / "folder.kept").mkdir()
    assert answer(tmp_path / "folder.kept") == 42
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    assert answer(tmp_path / "codes.kept") == 42
    assert {it.name for it in tmp_path.iterdir()} == {"file", "folder.kept"}


def test_what_is_not_used_is_empty(tmp_path: Path) -> None:
    assert answer(tmp_path / "codes.kept", unused={"made.py"}) is None
    assert answer(tmp_path / "codes.kept", unused={"another.py"}) == 42


def test_other_ways_to_compile_are_left_alone(tmp_path: Path) -> None:
    with KeptCode(tmp_path / "codes.kept"):
        assert eval(compile("6 * 7", "made.py", "eval")) == 42
        with pytest.raises(SyntaxError, match="invalid syntax"):
            compile(b"answer =", "made.py", "exec")
    assert not (tmp_path / "codes.kept").exists()


def test_pyside_is_imported_from_what_was_kept_and_still_explains_itself(tmp_path: Path) -> None:
    """What a wrong call answers is written by the sources that are kept."""
    program = (
        "import app.kept_code, builtins, sys\n"
        "own, compiled = builtins.compile, []\n"
        "def count(*words, **settings):\n"
        "    compiled.append(words[1])\n"
        "    return own(*words, **settings)\n"
        "builtins.compile = count\n"
        "import app.plain_imports\n"
        "from PySide6.QtCore import QObject\n"
        "print(len(compiled), 'argparse' in sys.modules)\n"
        "QObject().startTimer('soon')\n"
    )
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    seen = []
    for _ in range(2):
        result = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT, env=environment, timeout=60, check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert "startTimer(interval: int" in result.stderr
        seen.append(result.stdout.split())
    (first, _), (second, parser) = seen
    assert int(first) > 10
    assert (second, parser) == ("0", "False")
