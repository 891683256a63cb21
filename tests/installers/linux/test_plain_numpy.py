"""numpy without OpenBLAS: its source, its compilation, and a wheel without any local path.

The compilation itself is tested in `tests/packages`, which builds a bundle.
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

from installers.build_error import BuildError
from installers.linux import plain_numpy
from tests.support.paths import ROOT

LOCK = ROOT / "installers" / "lock" / "app.txt"


def test_the_source_is_that_of_the_lock_and_has_the_settings_to_compile_it() -> None:
    wanted = list(plain_numpy.requirements())
    locked = re.findall(r"^numpy==(\S+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    assert [re.match(r"numpy==(\S+)", it)[1] for it in wanted] == locked  # type: ignore[index]
    assert np.__version__ in locked
    for entry in wanted:
        assert entry.count("--hash=sha256:") > 10
        assert "--config-settings=setup-args=-Dblas=none" in entry
        assert not re.search(r"[^\\]\n(?=.)", entry), "each line but the last goes on"


def test_a_wheel_that_was_made_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = []

    def compile_it(folder: Path) -> None:
        made.append(folder)
        with zipfile.ZipFile(folder / "numpy-2-cp311-cp311-linux_x86_64.whl", "w") as archive:
            archive.writestr("numpy/__config__.py", 'CONFIG = {"path": r"/home/a/python"}')
            archive.writestr("numpy/other.py", '"path": r"/usr"')

    monkeypatch.setattr(plain_numpy, "compile_wheel", compile_it)
    wheel = plain_numpy.wheel(tmp_path)
    assert plain_numpy.wheel(tmp_path) == wheel
    assert len(made) == 1
    with zipfile.ZipFile(wheel) as archive:
        assert archive.read("numpy/__config__.py") == b'CONFIG = {"path": "python"}'
        assert archive.read("numpy/other.py") == b'"path": r"/usr"'
    assert [it.name for it in tmp_path.iterdir()] == [wheel.parent.name]


def test_where_it_cannot_be_compiled_the_build_says_what_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(BuildError, match=r"numpy could not be compiled.*C\+\+ compiler"):
        plain_numpy.wheel(tmp_path)
