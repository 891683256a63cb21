"""`installers/build.py`: its inputs, its refusals, and its count of bytes."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from app import __version__
from installers import build
from installers.build_error import BuildError
from tests.support.paths import ROOT

ASKING_THE_HUB = """
import sys

sys.modules.update(dict.fromkeys(sys.argv[1:]))  # importing one of these fails

import os
from pathlib import Path
from tempfile import TemporaryDirectory

from app.models.hub.client import Hub
from app.models.hub.values.hub import Query
from app.net import Gate
from tests.hub.testhub import TestHub

with TestHub() as hub, TemporaryDirectory() as folder:
    os.environ["HF_ENDPOINT"] = hub.url
    hub.token("hf_good", "ada")
    starter = Path("resources/starter/starter.gguf")
    hub.add("ada/Small-GGUF", {"a-Q4_0.gguf": starter}, card="# Hi")
    client = Hub(Gate(lambda _: None, lambda: True), lambda: "hf_good")
    repository = client.repository(client.search(Query())[0].id)
    assert client.headers(repository, repository.variants[0], Path(folder)).is_file()
    print(client.account_of("hf_good"), client.card(repository))
"""


def test_packages_have_the_version_that_hearth_tells() -> None:
    assert build.version() == __version__


def test_a_package_bears_the_time_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1750000000")
    assert build.epoch() == 1_750_000_000
    monkeypatch.delenv("SOURCE_DATE_EPOCH")
    assert build.epoch() > 1_750_000_000


def test_the_portable_llama_goes_before_that_of_this_computer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.setattr(build, "DIST", tmp_path / "dist")
    with pytest.raises(BuildError, match=r"no llama\.cpp"):
        build.llama_wheel(None)
    with pytest.raises(BuildError, match="no wheel at"):
        build.llama_wheel(tmp_path / "gone.whl")
    own = tmp_path / ".cache" / "llama-1" / "llama_cpp_python-1.whl"
    portable = tmp_path / "dist" / "llama_cpp_python-1-portable.whl"
    for wheel in (own, portable):
        wheel.parent.mkdir(parents=True)
    own.touch()
    assert build.llama_wheel(None) == own
    assert "no portable llama.cpp" in capsys.readouterr().err
    portable.touch()
    assert build.llama_wheel(None) == portable
    assert build.llama_wheel(own) == own


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("hearth", "code in Python: Hearth's, and of packages"),
        ("_internal/app/core/links.pyc", "code in Python: Hearth's, and of packages"),
        ("_internal/llama_cpp/lib/libggml-vulkan.so", "llama.cpp: for graphics cards"),
        ("_internal/llama_cpp/lib/libggml-cpu-zen4.so", "llama.cpp: for processors"),
        ("_internal/llama_cpp/lib/libmtmd.so", "llama.cpp: models, pictures and sounds"),
        ("_internal/resources/starter/starter.gguf", "the built-in models"),
        ("_internal/PySide6/Qt/lib/libicudata.so.73", "Qt: ICU, for the order of words"),
        ("_internal/PySide6/QtCore.abi3.so", "Qt and its Python"),
        ("_internal/what.else", "everything else"),
    ],
)
def test_each_file_belongs_to_a_part(name: str, part: str) -> None:
    assert build.part_of(name) == part


def test_a_table_tells_where_the_bytes_are(tmp_path: Path) -> None:
    bundle = tmp_path / "hearth"
    (bundle / "_internal/resources/starter").mkdir(parents=True)
    (bundle / "_internal/resources/starter/starter.gguf").write_bytes(bytes(2_000_000))
    (bundle / "hearth").write_bytes(bytes(1_000_000))
    (bundle / "again").symlink_to("hearth")
    package = tmp_path / "hearth_1.deb"
    package.write_bytes(bytes(500_000))
    table = list(build.sizes(bundle, [package]))
    assert "| the built-in models | 2.0 |" in table
    assert "| **all, unpacked** (at most 200) | **3.0** |" in table
    assert "| without the built-in models | 1.0 |" in table
    assert table[-1] == "| `hearth_1.deb` (at most 60) | 0.5 |"


def test_what_packages_leave_out_is_not_needed_for_the_hub() -> None:
    tree = ast.parse((ROOT / "installers" / "hearth.spec").read_text(encoding="utf-8"))
    (left_out,) = (
        ast.literal_eval(it.value)
        for it in tree.body
        if isinstance(it, ast.Assign) and ast.unparse(it.targets[0]) == "NO_MODULES"
    )
    result = subprocess.run(
        [sys.executable, "-c", ASKING_THE_HUB, *left_out], cwd=ROOT, capture_output=True, text=True
    )
    assert result.stdout == "ada # Hi\n", result.stderr
