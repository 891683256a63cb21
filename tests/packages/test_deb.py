"""Hearth's .deb on fresh systems: installed, used, upgraded and removed.

The tests of one system are in the order of a package's life and build on each other; the stages of
that life are the fixtures. The dependencies of the package are installed first, by apt and only
from that release, as a desktop has most of them. From then on the network is dead, and counts
packets.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packages.leftovers import naming
from tests.packages.packages import older
from tests.packages.releases import RELEASES, Release
from tests.packages.trying import (
    DATA,
    FIRST_ANSWER_S,
    HOME,
    WANTED,
    System,
    package,
    prepared,
    tell,
)

pytestmark = [pytest.mark.packages, WANTED, pytest.mark.timeout(1500)]

QUESTION = "What is Hearth?"
COMPILERS = ("cc", "gcc", "g++", "clang", "make", "cmake", "python3", "python3-config", "pip")


@dataclass
class Tried:
    """A system, and the places of the package and its earlier version in it."""

    system: System
    new: str
    old: str

    def installed(self) -> str:
        """Return the installed version; empty if there is none."""
        show = "--show", "--showformat=${db:Status-Status} ${Version}", "hearth"
        said = self.system.root.run("dpkg-query", *show, check=False).stdout
        status, _, number = said.partition(" ")
        return number if status == "installed" else ""

    def apt(self, *words: str) -> None:
        """Run apt without a network."""
        self.system.root.run("apt-get", *words, "-y", "--no-install-recommends")


@pytest.fixture(scope="module", params=RELEASES, ids=str)
def tried(
    request: pytest.FixtureRequest, x_display: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tried]:
    release: Release = request.param
    deb = package("hearth_*.deb")
    before = older(deb, tmp_path_factory.mktemp(str(release)))
    with prepared(release, [deb, before]) as system:
        before.unlink()
        yield Tried(system, f"/srv/{deb.name}", f"/srv/{before.name}")


@pytest.fixture(scope="module")
def first(tried: Tried, request: pytest.FixtureRequest) -> Tried:
    """Install the earlier version, and get its first answer."""
    began = time.monotonic()
    tried.apt("install", tried.old)
    installed = time.monotonic()
    assert "Hearth" in tried.system.hearth("ask", QUESTION)
    answered = time.monotonic()
    tell(
        request,
        f"{tried.system.release.title}, .deb: installed in {installed - began:.1f} s, "
        f"first answer {answered - installed:.1f} s later",
    )
    assert answered - began < FIRST_ANSWER_S
    return tried


@pytest.fixture(scope="module")
def used(first: Tried) -> Tried:
    """Make a chat and a setting that have to be kept."""
    first.system.hearth("chat", given=f"{QUESTION}\n")
    first.system.hearth("settings", "set", "temperature", "0.3")
    return first


@pytest.fixture(scope="module")
def upgraded(used: Tried) -> Tried:
    used.apt("install", used.new)
    return used


@pytest.fixture(scope="module")
def removed(upgraded: Tried) -> Tried:
    upgraded.apt("remove", "hearth")
    return upgraded


@pytest.fixture(scope="module")
def purged(removed: Tried) -> Tried:
    """Install it again, and purge it at once."""
    removed.apt("install", removed.new)
    assert len(json.loads(removed.system.hearth("chats", "list", "--json"))) == 1
    removed.apt("purge", "hearth")
    return removed


def test_nothing_that_compiles_is_there(tried: Tried) -> None:
    root = tried.system.root
    for tool in COMPILERS:
        found = root.run("sh", "-c", f"command -v {tool}", check=False)
        assert found.returncode, f"{found.stdout} came with what the package depends on"
    assert not list(root.folder.glob("usr/include/python3*/Python.h"))


def test_the_first_answer_comes_within_a_minute_of_the_double_click(first: Tried) -> None:
    assert first.installed().endswith("~before")


def test_an_answer_needs_nobody_on_the_network(first: Tried) -> None:
    answer = json.loads(first.system.hearth("ask", QUESTION, "--json"))
    assert answer["engine"] == "llamacpp"
    assert answer["model"] == "starter"
    assert answer["finish_reason"] == "stop"
    assert not first.system.root.packets_sent(), "Hearth has sent something to somewhere"


def test_all_that_doctor_looks_at_is_well(first: Tried) -> None:
    report = json.loads(first.system.hearth("doctor", "--json"))
    assert [it for it in report if it["state"] == "failed"] == []


def test_a_document_is_read_in_a_process_of_its_own(first: Tried) -> None:
    notes = first.system.root.folder / HOME.strip("/") / "notes.md"
    notes.write_text("# Notes\n\nThe harbour lies at the mouth of the river.\n")
    assert first.system.hearth("ask", QUESTION, "--file", "notes.md")
    notes.unlink()


def test_the_window_opens(
    first: Tried, x_display: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    took = first.system.open_window(x_display, tmp_path / "log")
    tell(request, f"{first.system.release.title}, .deb: first window in {took:.1f} s")
    assert not first.system.root.processes()
    assert not first.system.root.packets_sent(), "the window has sent something to somewhere"


def test_an_upgrade_keeps_chats_and_settings(used: Tried, request: pytest.FixtureRequest) -> None:
    (chat,) = json.loads(used.system.hearth("chats", "list", "--json"))
    before = used.system.hearth("chats", "show", chat["id"])
    assert QUESTION in before
    request.getfixturevalue("upgraded")
    assert used.installed()
    assert not used.installed().endswith("~before")
    assert used.system.hearth("chats", "show", chat["id"]) == before
    assert used.system.hearth("settings", "get", "temperature").strip() == "0.3"


def test_a_chat_goes_on_after_the_upgrade(upgraded: Tried) -> None:
    (chat,) = json.loads(upgraded.system.hearth("chats", "list", "--json"))
    assert upgraded.system.hearth("ask", QUESTION, "--chat", chat["id"])
    assert upgraded.system.hearth("chats", "show", chat["id"]).count("## You") == 2


def test_the_window_opens_after_the_upgrade(
    upgraded: Tried, x_display: str, tmp_path: Path
) -> None:
    upgraded.system.open_window(x_display, tmp_path / "log")


def test_what_is_removed_does_not_run_any_more(removed: Tried) -> None:
    assert not removed.installed()
    assert removed.system.root.run("sh", "-c", "command -v hearth", check=False).returncode
    assert not removed.system.root.processes()


def test_nothing_is_left_but_what_is_the_users(removed: Tried) -> None:
    root = removed.system.root.folder
    assert (root / DATA.strip("/") / "chats.db").exists(), "the chats are not the package's"
    assert not removed.system.left(), removed.system.left()
    assert not naming(root, "io.github.hearth", ("/etc", "/usr/share", "/var/lib/dpkg/info"))


def test_it_can_come_again_find_the_chats_and_be_purged(purged: Tried) -> None:
    assert (purged.system.root.folder / DATA.strip("/") / "chats.db").exists()
    assert not purged.system.left(), purged.system.left()
    assert not purged.system.root.packets_sent()
