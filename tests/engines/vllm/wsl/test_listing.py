"""What wsl.exe says, as Windows has been seen to write it, and what follows from it."""

from __future__ import annotations

import pytest

from engines.vllm.provision.windows import Wsl2
from engines.vllm.wsl.listing import Listed, Said, decoded, listed, wsl2

NAMES = "Ubuntu-24.04\ndocker-desktop\nDebian\n"
TABLE = """  NAME              STATE           VERSION
* Ubuntu-24.04      Stopped         2
  docker-desktop    Running         2
  Debian            Running         1
"""
WELL = Said(0, "")


def test_windows_writes_utf_16_and_linux_utf_8() -> None:
    assert decoded("Ubuntu\r\nÄ\r\n".encode("utf-16-le")) == "Ubuntu\nÄ\n"
    assert decoded("\ufeffUbuntu\r\n".encode("utf-16-le")) == "Ubuntu\n"
    assert decoded("Ubuntu\nÄ\n".encode()) == "Ubuntu\nÄ\n"
    assert decoded(b"") == ""


def test_the_list_is_read_in_any_language() -> None:
    assert listed(NAMES, TABLE) == (
        Listed("Ubuntu-24.04", 2),
        Listed("docker-desktop", 2),
        Listed("Debian", 1),
    )
    german = "  NAME      STATUS             VERSION\n* Ubuntu    Wird ausgeführt    2\n"
    assert listed("Ubuntu\n", german) == (Listed("Ubuntu", 2),)


def test_one_name_can_begin_with_another() -> None:
    table = "  NAME    STATE    VERSION\n* Ubuntu-24.04    Stopped    2\n  Ubuntu    Stopped    1\n"
    assert listed("Ubuntu-24.04\nUbuntu\n", table) == (
        Listed("Ubuntu-24.04", 2),
        Listed("Ubuntu", 1),
    )


def test_the_usual_one_is_used_or_the_one_that_is_wanted() -> None:
    table = TABLE.replace("Running         1", "Running         2")
    assert wsl2(WELL, Said(0, NAMES), Said(0, table)) == Wsl2("ready", "Ubuntu-24.04")
    assert wsl2(WELL, Said(0, NAMES), Said(0, table), "Debian").name == "Debian"
    assert wsl2(WELL, Said(0, NAMES), Said(0, table), "gone").name == "Ubuntu-24.04"
    assert wsl2(WELL, Said(0, NAMES), Said(0, TABLE), "Debian").name == "Ubuntu-24.04", "WSL1"


@pytest.mark.parametrize(
    ("status", "names", "table", "found"),
    [
        (Said(None), Said(None), Said(None), Wsl2("absent")),
        (Said(50, "not installed"), Said(50), Said(50), Wsl2("absent")),
        (Said(1, late=True), WELL, WELL, Wsl2("silent")),
        (WELL, Said(1, late=True), WELL, Wsl2("silent")),
        (WELL, Said(255, "none"), Said(255, "none"), Wsl2("empty")),
        (WELL, Said(0, "docker-desktop\n"), Said(0, TABLE), Wsl2("empty")),
        (WELL, Said(0, "Debian\n"), Said(0, TABLE), Wsl2("old", "Debian")),
        # An old wsl.exe knows no --status.
        (Said(255), Said(0, NAMES), Said(0, TABLE), Wsl2("ready", "Ubuntu-24.04")),
    ],
)
def test_what_there_is(status: Said, names: Said, table: Said, found: Wsl2) -> None:
    assert wsl2(status, names, table) == found
