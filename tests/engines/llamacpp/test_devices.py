"""Listing the devices from another process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from engines.errors import EngineUnavailable
from engines.llamacpp import devices as llamacpp_devices
from engines.llamacpp.devices import FAILED_S, FRESH_S, Devices
from engines.llamacpp.native import load_native

LOOK = """
import sys
from engines.llamacpp.devices import Devices
print([device.kind for device in Devices().list_devices()], "llama_cpp" in sys.modules)
"""
SPEAKS = "import sys; print({said!r}); sys.exit({code})"


MISSING = (
    '{"error": "EngineUnavailable", "what": "The llama.cpp engine cannot start.",'
    ' "why": "A driver is missing.", "do": "Install it."}'
)


def speaking(said: str, code: int = 0) -> tuple[str, ...]:
    return (sys.executable, "-c", SPEAKS.format(said=said, code=code))


def reading(file: Path) -> tuple[str, ...]:
    """Return a command that prints the current content of a file."""
    return (sys.executable, "-c", f"print(open({str(file)!r}).read())")


def seen(devices: str) -> str:
    """Return the output of a process that found these devices."""
    return f'{{"result": {devices}}}'


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llamacpp_devices, "loaded_native", lambda: None)


def test_another_process_sees_what_this_one_would() -> None:
    seen, ours = Devices().list_devices(), load_native().devices()
    assert [(it.name, it.kind, it.total_bytes) for it in seen] == [
        (it.name, it.kind, it.total_bytes) for it in ours
    ]


def test_the_library_stays_out_of_the_process_that_asks() -> None:
    out = subprocess.run([sys.executable, "-c", LOOK], capture_output=True, text=True, check=True)
    assert out.stdout.strip().startswith("['cpu'")
    assert out.stdout.strip().endswith("False")


def test_once_it_is_loaded_nobody_else_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    load_native().load_cards()
    assert load_native().complete
    monkeypatch.setattr(llamacpp_devices, "loaded_native", load_native)
    assert Devices(("no such program",)).list_devices() == load_native().devices()


def test_where_cards_are_not_loaded_here_another_process_looks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    half = SimpleNamespace(complete=False, devices=lambda: pytest.fail("it knows only half"))
    monkeypatch.setattr(llamacpp_devices, "loaded_native", lambda: half)
    assert Devices(speaking(seen("[]"))).list_devices() == ()


def test_an_answer_holds_for_a_while(tmp_path: Path) -> None:
    now, file = 0.0, tmp_path / "devices"
    device = '[{"name": "A", "description": "", "backend": "", "kind": "cpu",'
    device += ' "total_bytes": 1, "free_bytes": 1, "pci_id": null}]'
    file.write_text(seen(device))
    devices = Devices(reading(file), clock=lambda: now)
    assert devices.list_devices()[0].name == "A"
    file.write_text(seen("[]"))
    assert devices.list_devices()[0].name == "A"
    now = FRESH_S + 1
    assert devices.list_devices() == ()


def test_after_a_failure_nobody_looks_for_a_while(tmp_path: Path) -> None:
    now, file = 0.0, tmp_path / "devices"
    file.write_text("nonsense")
    devices = Devices(reading(file), clock=lambda: now)
    with pytest.raises(EngineUnavailable):
        devices.list_devices()
    file.write_text(seen("[]"))
    with pytest.raises(EngineUnavailable):
        devices.list_devices()
    now = FAILED_S + 1
    assert devices.list_devices() == ()


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (speaking(MISSING), "A driver is missing."),
        (speaking("nonsense", code=3), "The process ended with code 3."),
        (speaking(seen('[{"name": "half"}]')), "failed"),
        (("/no/such/program", "x"), "The system could not start a process"),
    ],
)
def test_what_goes_wrong_is_said(command: tuple[str, ...], why: str) -> None:
    with pytest.raises(EngineUnavailable, match="cannot start") as caught:
        Devices(command).list_devices()
    assert why in caught.value.why
