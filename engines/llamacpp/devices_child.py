"""The process that loads llama.cpp and reports the devices it sees. See `devices`."""

from __future__ import annotations

import sys

from engines.errors import EngineUnavailable
from engines.helper.child import begin
from engines.llamacpp.devices import fault, told
from engines.llamacpp.native import load_native


def main() -> int:
    """Report the devices, or the reason why llama.cpp cannot be loaded, on standard output."""
    say = begin()
    try:
        native = load_native()
        native.load_cards()
        say(told(native.devices()))
    except EngineUnavailable as error:
        say(fault(error))
    return 0


if __name__ == "__main__":
    sys.exit(main())
