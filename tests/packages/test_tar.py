"""Hearth for one user, without root: installed from its archive, used, reinstalled and removed.

The tests of one system build on each other, like those of the .deb. Besides the libraries that
Hearth needs, the system has the tools of a desktop, which keep lists of programs and types.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages.releases import RELEASES
from tests.packages.trying import DATA, FIRST_ANSWER_S, WANTED, System, package, prepared, tell

pytestmark = [pytest.mark.packages, WANTED, pytest.mark.timeout(1500)]

QUESTION = "What is Hearth?"
ON_A_DESKTOP = ("xz-utils", "desktop-file-utils", "shared-mime-info")
INSTALL = """
mkdir unpacked && cd unpacked && tar -xf /srv/hearth-*.tar.xz
sh hearth-*/install.sh && cd .. && rm -r unpacked
"""


def install(system: System) -> str:
    """Unpack the archive, install it, and delete the unpacked files, as the user."""
    return system.root.run("sh", "-ec", INSTALL, user=system.friend).stdout


@pytest.fixture(scope="module", params=RELEASES, ids=str)
def system(request: pytest.FixtureRequest, x_display: str) -> Iterator[System]:
    with prepared(request.param, [package("hearth-*.tar.xz")], *ON_A_DESKTOP) as made:
        yield made


@pytest.fixture(scope="module")
def first(system: System, request: pytest.FixtureRequest) -> System:
    """Install it, and get its first answer."""
    began = time.monotonic()
    install(system)
    installed = time.monotonic()
    assert "Hearth" in system.hearth("ask", QUESTION)
    answered = time.monotonic()
    tell(
        request,
        f"{system.release.title}, archive: unpacked and installed in {installed - began:.1f} s, "
        f"first answer {answered - installed:.1f} s later",
    )
    assert answered - began < FIRST_ANSWER_S
    return system


@pytest.fixture(scope="module")
def removed(first: System) -> System:
    """Remove it with the command in its own last line."""
    said = install(first).splitlines()[-1]
    first.root.run(*said.partition(": ")[2].split(), user=first.friend)
    return first


def test_the_first_answer_comes_within_a_minute_of_the_archive(first: System) -> None:
    command = first.root.run("sh", "-c", "command -v hearth", user=first.friend)
    assert command.stdout.strip() == f"{first.friend.home}/.local/bin/hearth"


def test_only_the_users_own_folder_was_written_to(first: System) -> None:
    outside = [it for it in first.left().added if not it.startswith(f"{first.friend.home}/")]
    assert not outside
    assert not first.left().changed


def test_the_menu_names_the_program_where_it_lies(first: System) -> None:
    share = first.root.folder / first.friend.home.strip("/") / ".local/share"
    (entry,) = share.glob("applications/*.desktop")
    started = [it for it in entry.read_text("utf-8").splitlines() if it.startswith("Exec=")]
    for line in started:
        program = line.removeprefix("Exec=").split()[0].strip('"')
        assert first.root.run(program, "--version", user=first.friend).stdout.startswith("hearth ")
    first.root.run("desktop-file-validate", f"/{entry.relative_to(first.root.folder)}")


def test_the_window_opens(
    first: System, x_display: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    took = first.open_window(x_display, tmp_path / "log")
    tell(request, f"{first.release.title}, archive: first window in {took:.1f} s")
    assert not first.root.processes()


def test_installing_again_keeps_the_chats(first: System) -> None:
    first.hearth("chat", given=f"{QUESTION}\n")
    before = json.loads(first.hearth("chats", "list", "--json"))
    assert len(before) == 1
    install(first)
    assert json.loads(first.hearth("chats", "list", "--json")) == before
    assert first.hearth("ask", QUESTION)


def test_nothing_is_left_but_what_is_the_users(removed: System) -> None:
    assert (removed.root.folder / DATA.strip("/") / "chats.db").exists()
    assert not removed.left(), removed.left()
    assert not removed.root.processes()


def test_it_can_come_again_and_has_sent_nothing_to_anywhere(removed: System) -> None:
    install(removed)
    assert len(json.loads(removed.hearth("chats", "list", "--json"))) == 1
    assert not removed.root.packets_sent()
