"""The portable build of llama.cpp: its requirements, and the content of its wheel."""

from __future__ import annotations

import re
import shutil
import sys
import zipfile
from pathlib import Path

import pytest

import run
from engines.llamacpp import native
from installers.native import backends, build, wheels
from tests.support.portable import WHEEL

HAS_WHEEL = pytest.mark.skipif(WHEEL is None, reason="no wheel: python3 installers/native/build.py")


@pytest.mark.skipif(sys.platform == "darwin", reason="a Mac takes Metal, which needs no tools")
@pytest.mark.parametrize(
    ("words", "lack", "advice"),
    [
        ([], "glslc, is missing", "installers/vulkan/build.sh --tools"),
        ([], "glslc, is missing", "leave Vulkan out: --without-vulkan"),
        (["--pack", "vulkan"], "glslc, is missing", "installers/vulkan/build.sh"),
        (["--pack", "cuda"], "nvcc, is missing", "CUDA toolkit"),
    ],
)
def test_without_its_tools_nothing_is_begun_and_it_is_said_what_to_do(
    words: list[str],
    lack: str,
    advice: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    monkeypatch.setattr(run, "CACHE", tmp_path)
    assert build.main(words) == 1
    said = capsys.readouterr().err
    assert "Nothing was made." in said
    assert lack in said
    assert advice in said
    assert list(tmp_path.iterdir()) == []


def test_its_flags_name_nothing_of_this_computer() -> None:
    for vulkan in (True, False):
        flags = build.portable_flags(vulkan=vulkan)
        assert "-DGGML_NATIVE=OFF" in flags
        assert set(backends.COMMON) <= set(flags), "libmtmd and all else that run.py builds"
        assert str(run.ROOT) not in " ".join(flags)
    if sys.platform != "darwin":
        assert "-DGGML_BACKEND_DL=ON" in flags
        assert "-DGGML_VULKAN=ON" not in flags
        assert "-DGGML_VULKAN=ON" in build.portable_flags(vulkan=True)


def test_what_was_compiled_stays_until_the_recipe_changes(tmp_path: Path) -> None:
    made = tmp_path / "objects" / "made.o"
    made.parent.mkdir()
    made.touch()
    build.discard_outdated(made.parent, ["-DA=ON"])
    assert not made.exists(), "of what recipe it was is not known"
    made.parent.mkdir()
    made.touch()
    build.discard_outdated(made.parent, ["-DA=ON"])
    assert made.exists()
    build.discard_outdated(made.parent, ["-DA=OFF"])
    assert not made.exists()


def test_the_oldest_library_that_files_run_with_is_the_newest_that_one_asks_for() -> None:
    files = [b"\0GLIBC_2.9\0GLIBC_2.34\0", b"GLIBC_2.2.5\0GLIBC_PRIVATE\0GLIBCXX_3.4.30\0"]
    assert wheels.floor(files, "GLIBC") == "2.34"
    assert wheels.floor(files, "GLIBCXX") == "3.4.30"
    assert wheels.floor([b""], "GLIBC") == ""


@pytest.mark.skipif(sys.platform != "linux", reason="of files for Linux")
def test_a_wheel_is_named_after_the_glibc_that_it_needs() -> None:
    wheel = Path("llama_cpp_python-0.1-py3-none-linux_x86_64.whl")
    assert build.platform_tag(wheel, {"glibc": "2.34"}) == "manylinux_2_34_x86_64"
    assert build.platform_tag(wheel, {}) == "linux_x86_64"
    library = native.load_native().library
    least = build.requirements({"libllama.so": Path(library).read_bytes()})
    assert re.fullmatch(r"2\.\d+", least["glibc"])
    assert re.fullmatch(r"3\.4\.\d+", least["libstdc++"])


@HAS_WHEEL
def test_the_wheel_serves_here_and_has_nothing_of_where_and_when_it_was_made() -> None:
    assert WHEEL is not None
    says = wheels.read_description(WHEEL)
    assert (says["llama_cpp_python"], says["source"]) == (native.BINDINGS_VERSION, native.SOURCE)
    with zipfile.ZipFile(WHEEL) as archive:
        assert {it.date_time for it in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        names = archive.namelist()
        placed = [it for it in names if str(run.ROOT).encode() in archive.read(it)]
    assert placed == []
    assert any("mtmd" in Path(it).name for it in names if it.startswith("llama_cpp/lib/"))


@HAS_WHEEL
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the modules are others")
def test_the_wheel_has_a_module_for_each_kind_of_processor_and_libgomp() -> None:
    assert WHEEL is not None
    says = wheels.read_description(WHEEL)
    if says["machine"] == "x86_64":
        assert {"x64", "sse42", "sandybridge", "haswell", "skylakex", "zen4"} <= set(
            says["processors"]
        )
    with zipfile.ZipFile(WHEEL) as archive:
        assert "llama_cpp/lib/libgomp.so.1" in archive.namelist()
