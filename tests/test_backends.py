"""The back end that run.py builds, and how it is reported."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import run
from installers.native import backends

OLD, NEW = 239, 309


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Simulate a Linux computer without any tool; return the folder of the cache."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(backends, "DEFAULT", "cpu")
    monkeypatch.setattr(backends, "header_folders", lambda cache: [cache / "vulkan" / "include"])
    monkeypatch.setattr(shutil, "which", lambda name, path=None: None)
    monkeypatch.setattr(run, "CACHE", tmp_path)
    monkeypatch.setattr(run, "DIST", tmp_path / "dist")
    return tmp_path


def tools(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(
        shutil, "which", lambda name, path=None: f"/bin/{name}" if name in names else None
    )


def headers(cache: Path, version: int) -> None:
    folder = cache / "vulkan" / "include" / "vulkan"
    folder.mkdir(parents=True)
    (folder / "vulkan_core.h").write_text(
        f"#define VK_HEADER_VERSION_COMPLETE 1\n// Version\n#define VK_HEADER_VERSION {version}\n"
    )


@pytest.mark.parametrize(
    ("words", "chosen", "rest"),
    [
        ([], None, []),
        (["ask", "--backend", "x"], None, ["ask", "--backend", "x"]),
        (["--backend", "vulkan", "test", "-x"], "vulkan", ["test", "-x"]),
        (["--backend=auto", "ask", "Hi"], "auto", ["ask", "Hi"]),
        (["--backend"], "", []),
    ],
)
def test_it_stands_before_all_other_words(
    words: list[str], chosen: str | None, rest: list[str]
) -> None:
    assert backends.split_option("--backend", words) == (chosen, rest)


def test_the_choice_is_kept_and_makes_another_build(bare: Path) -> None:
    usual = run.native_folder(), run.digest("app.txt")
    assert backends.stored(bare) == "cpu"
    backends.store(bare, "vulkan")
    assert backends.stored(bare) == "vulkan"
    assert "-DGGML_VULKAN=ON" in run.all_flags()
    assert run.native_folder() != usual[0]
    assert run.digest("app.txt") != usual[1]
    run.use_backend("cpu")
    assert (run.native_folder(), run.digest("app.txt")) == usual


def test_nonsense_in_the_file_is_as_no_choice(bare: Path) -> None:
    (bare / "backend").write_text("quantum")
    assert backends.stored(bare) == "cpu"


def test_the_processor_alone_has_the_flags_that_it_always_had(bare: Path) -> None:
    assert run.all_flags() == run.native_flags()


def test_without_tools_it_is_the_processor_and_says_why(
    bare: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run.use_backend("auto")
    said = capsys.readouterr().err
    assert said.startswith("llama.cpp is built for the processor alone.")
    assert "glslc" in said
    assert "nvcc" in said
    assert said.count("\n") == 1
    assert backends.stored(bare) == "cpu"


@pytest.mark.parametrize(
    ("here", "version", "taken"),
    [
        (("glslc",), NEW, "vulkan"),
        (("glslc",), OLD, "cpu"),
        ((), NEW, "cpu"),
        (("nvcc", "nvidia-smi", "glslc"), NEW, "cuda"),
        (("nvcc", "glslc"), NEW, "vulkan"),
    ],
)
def test_auto_takes_what_the_tools_allow(
    bare: Path,
    monkeypatch: pytest.MonkeyPatch,
    here: tuple[str, ...],
    version: int,
    taken: str,
) -> None:
    tools(monkeypatch, *here)
    headers(bare, version)
    run.use_backend("auto")
    assert backends.stored(bare) == taken


def test_on_a_mac_auto_is_metal(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert backends.best(bare)[0] == "metal"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("vulkan", "glslc.*installers/vulkan/build.sh"),
        ("cuda", "nvcc.*CUDA toolkit"),
        ("metal", "not a Mac"),
        ("opencl", "takes auto, cpu, vulkan, metal, cuda; not “opencl”"),
        ("", "takes auto"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_chosen(bare: Path, name: str, told: str) -> None:
    with pytest.raises(run.SetupError, match=told):
        run.use_backend(name)
    assert not (bare / "backend").exists()


def test_headers_that_are_too_old_are_named(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools(monkeypatch, "glslc")
    headers(bare, OLD)
    with pytest.raises(run.SetupError, match="of version 239, too old"):
        run.use_backend("vulkan")


def test_the_newest_headers_are_built_with(bare: Path) -> None:
    headers(bare, NEW)
    folder = bare / "vulkan" / "include"
    assert f"-DVulkan_INCLUDE_DIR={folder.as_posix()}" in backends.local_flags("vulkan", bare)
    assert backends.header_version(folder) == NEW


def test_a_shader_compiler_that_was_unpacked_goes_before_the_system_s(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools(monkeypatch, "glslc")
    assert backends.glslc(bare) == "/bin/glslc"
    own = bare / "vulkan" / "bin" / "glslc"
    own.parent.mkdir(parents=True)
    own.touch()
    assert f"-DVulkan_GLSLC_EXECUTABLE={own.as_posix()}" in backends.local_flags("vulkan", bare)


def test_a_module_is_never_made_for_one_processor_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    answers: list[tuple[Callable[[], str], bool]] = [(lambda: "avx2", False), (lambda: "x", True)]
    for processor, variants in answers:
        monkeypatch.setattr(backends, "processor", processor)
        assert ("-DGGML_CPU_ALL_VARIANTS=ON" in backends.flags("vulkan")) is variants
        # CMake takes the last value.
        assert ("-DGGML_NATIVE=OFF" in backends.flags("cuda")) is variants


def test_a_failed_set_up_says_the_way_back(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(testing: bool) -> None:
        raise run.SetupError("It does not build.")

    monkeypatch.setattr(run, "prepare", fail)
    monkeypatch.setattr(sys, "argv", ["run.py", "--backend=vulkan"])
    tools(monkeypatch, "glslc")
    headers(bare, NEW)
    assert run.main() == 1
    assert "run.py --backend cpu" in capsys.readouterr().err


def test_the_script_for_debian_asks_for_the_same_headers() -> None:
    script = (run.ROOT / "installers" / "vulkan" / "build.sh").read_text(encoding="utf-8")
    assert "LEAST_HEADER = " in script
    assert "://" not in script
    source = (run.ROOT / "installers" / "native" / "backends.py").read_text(encoding="utf-8")
    assert f"\nLEAST_HEADER = {backends.LEAST_HEADER}\n" in source
