"""Print the measurements of the tests marked `packages` at the end."""

from __future__ import annotations

import pytest

from tests.packages.trying import TOLD


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if told := terminalreporter.config.stash.get(TOLD, []):
        terminalreporter.section("packages on clean systems")
        terminalreporter.write("\n".join([*told, ""]))
