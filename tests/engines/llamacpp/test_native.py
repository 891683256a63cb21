"""The loaded library: its environment, its version, its devices, its log."""

from __future__ import annotations

import ctypes
import importlib
import logging
import subprocess
import sys
from ctypes import CDLL
from pathlib import Path
from types import SimpleNamespace

import pytest

from engines.errors import EngineUnavailable
from engines.llamacpp import native
from engines.llamacpp.ggml import Ggml, ggml_libraries
from engines.llamacpp.log import CONTINUED, WARN, NativeLog
from tests.engines.contract import answer, ask
from tests.engines.llamacpp.conftest import Load
from tests.support.paths import ROOT


def test_it_is_loaded_once() -> None:
    assert native.load_native() is native.load_native()


def test_the_processor_is_a_device() -> None:
    loaded = native.load_native()
    kinds = [device.kind for device in loaded.devices()]
    assert kinds.count("cpu") == 1
    for device in loaded.devices():
        assert device.name
        assert device.backend
        assert 0 <= device.free_bytes <= device.total_bytes


def test_the_environment_is_set_before_the_library_is() -> None:
    program = (
        "import os, engines.llamacpp.native as native\n"
        "native.load_native()\n"
        "print(os.environ['OMP_WAIT_POLICY'], os.environ['GOMP_SPINCOUNT'],"
        " os.environ['GGML_NO_BACKTRACE'],"
        " {'GGML_BACKEND_PATH', 'LLAMA_CPP_LIB_PATH'} & set(os.environ))"
    )
    result = subprocess.run(
        [sys.executable, "-c", program],
        cwd=ROOT,
        env={"GGML_BACKEND_PATH": "/nowhere/evil.so", "LLAMA_CPP_LIB_PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=True,
    )
    waits = "active" if sys.platform == "linux" else "passive"
    assert result.stdout.split() == [waits, "1000", "1", "set()"]
    assert result.stderr == ""


@pytest.mark.parametrize("name", ["BINDINGS_VERSION", "LIBRARY_VERSION"])
def test_another_version_is_refused(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = b"0.0.1" if name == "LIBRARY_VERSION" else "0.0.1"
    monkeypatch.setattr(native, name, wrong)
    with pytest.raises(EngineUnavailable, match=r"0\.0\.1"):
        native.Native()


def test_a_library_that_does_not_load_is_a_plain_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_name: str) -> None:
        raise OSError("libgomp.so.1: cannot open shared object file")

    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(EngineUnavailable, match=r"libgomp"):
        native.Native()


def test_a_function_may_be_in_a_library_that_libllama_depends_on() -> None:
    llama = CDLL(str(native.load_native().library))
    assert Ggml([SimpleNamespace(), llama]).dev_count() >= 1
    with pytest.raises(AttributeError, match="ggml_backend_load"):
        Ggml([SimpleNamespace()])


def test_on_windows_ggml_is_opened_by_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(ctypes, "CDLL", Path)
    llama, folder = object(), Path("lib")
    found = ggml_libraries(llama, folder)
    assert found == [llama, folder / "ggml.dll", folder / "ggml-base.dll"]


def test_a_library_without_a_function_is_a_plain_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native, "ggml_libraries", lambda _llama, _folder: [SimpleNamespace()])
    with pytest.raises(EngineUnavailable, match="ggml_backend_load"):
        native.Native()


def test_the_log_is_passed_on_and_not_printed(
    load: Load, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, "engines.llamacpp"):
        answer(load(), ask("Hello"))
    assert capfd.readouterr() == ("", "")
    assert any("starter.gguf" in line for line in caplog.messages)


def test_a_line_of_the_log_may_come_in_pieces() -> None:
    log = NativeLog()
    with log.watch() as lines:
        for level, text in [(WARN, "one "), (CONTINUED, "line\n"), (WARN, "\n"), (WARN, "two\n")]:
            log.write(level, text)
    assert lines == ["one line", "two"]
