"""The output of wsl.exe, as seen on Windows, and its meaning."""

from __future__ import annotations

import pytest

from engines.vllm.provision.windows import Wsl2
from engines.vllm.wsl.listing import CommandResult, ListedDistribution, decoded, judge_wsl2, listed

NAMES = "Ubuntu-24.04\ndocker-desktop\nDebian\n"
TABLE = """  NAME              STATE           VERSION
* Ubuntu-24.04      Stopped         2
  docker-desktop    Running         2
  Debian            Running         1
"""
WELL = CommandResult(0, "")


def test_windows_writes_utf_16_and_linux_utf_8() -> None:
    assert decoded("Ubuntu\r\nÄ\r\n".encode("utf-16-le")) == "Ubuntu\nÄ\n"
    assert decoded("\ufeffUbuntu\r\n".encode("utf-16-le")) == "Ubuntu\n"
    assert decoded("Ubuntu\nÄ\n".encode()) == "Ubuntu\nÄ\n"
    assert decoded(b"") == ""


def test_the_list_is_read_in_any_language() -> None:
    assert listed(NAMES, TABLE) == (
        ListedDistribution("Ubuntu-24.04", 2),
        ListedDistribution("docker-desktop", 2),
        ListedDistribution("Debian", 1),
    )
    german = "  NAME      STATUS             VERSION\n* Ubuntu    Wird ausgeführt    2\n"
    assert listed("Ubuntu\n", german) == (ListedDistribution("Ubuntu", 2),)


def test_one_name_can_begin_with_another() -> None:
    table = "  NAME    STATE    VERSION\n* Ubuntu-24.04    Stopped    2\n  Ubuntu    Stopped    1\n"
    assert listed("Ubuntu-24.04\nUbuntu\n", table) == (
        ListedDistribution("Ubuntu-24.04", 2),
        ListedDistribution("Ubuntu", 1),
    )


def test_the_usual_one_is_used_or_the_one_that_is_wanted() -> None:
    table = TABLE.replace("Running         1", "Running         2")
    assert judge_wsl2(WELL, CommandResult(0, NAMES), CommandResult(0, table)) == Wsl2(
        "ready", "Ubuntu-24.04"
    )
    assert (
        judge_wsl2(WELL, CommandResult(0, NAMES), CommandResult(0, table), "Debian").name
        == "Debian"
    )
    assert (
        judge_wsl2(WELL, CommandResult(0, NAMES), CommandResult(0, table), "gone").name
        == "Ubuntu-24.04"
    )
    assert (
        judge_wsl2(WELL, CommandResult(0, NAMES), CommandResult(0, TABLE), "Debian").name
        == "Ubuntu-24.04"
    ), "WSL1"


@pytest.mark.parametrize(
    ("status", "names", "table", "found"),
    [
        (CommandResult(None), CommandResult(None), CommandResult(None), Wsl2("absent")),
        (CommandResult(50, "not installed"), CommandResult(50), CommandResult(50), Wsl2("absent")),
        (CommandResult(1, timed_out=True), WELL, WELL, Wsl2("silent")),
        (WELL, CommandResult(1, timed_out=True), WELL, Wsl2("silent")),
        (WELL, CommandResult(255, "none"), CommandResult(255, "none"), Wsl2("empty")),
        (WELL, CommandResult(0, "docker-desktop\n"), CommandResult(0, TABLE), Wsl2("empty")),
        (WELL, CommandResult(0, "Debian\n"), CommandResult(0, TABLE), Wsl2("old", "Debian")),
        # An old wsl.exe knows no --status.
        (
            CommandResult(255),
            CommandResult(0, NAMES),
            CommandResult(0, TABLE),
            Wsl2("ready", "Ubuntu-24.04"),
        ),
    ],
)
def test_what_there_is(
    status: CommandResult, names: CommandResult, table: CommandResult, found: Wsl2
) -> None:
    assert judge_wsl2(status, names, table) == found
