"""The command line that starts a module of Hearth as a program."""

from __future__ import annotations

import sys

import pytest

from engines.helper.command import module_command


@pytest.mark.parametrize(
    ("running", "started"),
    [
        # On Windows, the window's program has no streams, and shows a dialog when it fails.
        ("/Programs/Hearth/hearthw.exe", "/Programs/Hearth/hearth.exe"),
        ("/Programs/Hearth/HearthW.EXE", "/Programs/Hearth/hearth.exe"),
        ("/Programs/Hearth/hearth.exe", "/Programs/Hearth/hearth.exe"),
        ("/usr/lib/hearth/hearth", "/usr/lib/hearth/hearth"),
    ],
)
def test_a_packaged_helper_is_run_by_the_program_that_has_streams(
    running: str, started: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", running)
    assert module_command("engines.llamacpp.trial_child") == (
        started,
        "-m",
        "engines.llamacpp.trial_child",
    )
