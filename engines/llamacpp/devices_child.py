"""The process that loads llama.cpp and reports the devices it sees. See `devices`."""

from __future__ import annotations

from engines.helper.child import WriteLine, report
from engines.llamacpp.native import load_native


def list_devices(_write: WriteLine) -> list[dict[str, object]]:
    """Return the devices as JSON values. Raises EngineUnavailable."""
    native = load_native()
    native.load_cards()
    return [vars(device) for device in native.devices()]


if __name__ == "__main__":
    report(list_devices)
