"""Hearth's .deb on systems as they come: installed, used, upgraded and removed.

The tests of one system stand in the order of a package's life and build on each other; the stages
of that life are the fixtures. What the package depends on is installed first, by apt and from that
release alone, as a desktop has most of it. From then on the network is dead, and counts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.packages import screen
from tests.packages.leftovers import compare, listed, naming
from tests.packages.packages import field, older
from tests.packages.releases import KEPT, RELEASES, Release
from tests.packages.roots import Root, User
from tests.packages.trying import clean_root, package, tell

pytestmark = [pytest.mark.packages, pytest.mark.timeout(1500)]

QUESTION = "What is Hearth?"
FIRST_ANSWER_S = 60.0
"""The bar from the double click on the package to the first answer, on two cores."""
FIRST_WINDOW_S = 60.0
INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
COMPILERS = ("cc", "gcc", "g++", "clang", "make", "cmake", "python3", "python3-config", "pip")
HOME = "/home/friend"
DATA = f"{HOME}/.local/share/hearth"
OF_THE_SYSTEM = (f"{HOME}/.cache/fontconfig", f"{HOME}/.cache/mesa_shader_cache")
"""What libraries of the system write for whoever uses them."""


@dataclass
class System:
    """A system with all that the package depends on, and two versions of the package in it."""

    release: Release
    root: Root
    friend: User
    before: dict[str, str]
    new: str
    old: str

    def installed(self) -> str:
        """The version that is installed; empty where none is."""
        show = "--show", "--showformat=${db:Status-Status} ${Version}", "hearth"
        status, _, number = self.root.run("dpkg-query", *show, check=False).stdout.partition(" ")
        return number if status == "installed" else ""

    def hearth(self, *words: str, given: str = "") -> str:
        """Run Hearth as the user, until its end."""
        return self.root.run("hearth", *words, user=self.friend, given=given).stdout


@pytest.fixture(scope="module", params=RELEASES, ids=str)
def system(
    request: pytest.FixtureRequest, x_display: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    release: Release = request.param
    deb = package("hearth_*.deb")
    with clean_root(release) as root:
        before = older(deb, tmp_path_factory.mktemp(str(release)))
        for it in (deb, before):
            (root.folder / "root" / it.name).write_bytes(it.read_bytes())
        before.unlink()
        friend = root.add_user("friend")
        root.run("apt-get", "update", network=True)
        satisfy = ("apt-get", "satisfy", "-y", "--no-install-recommends")
        root.run(*satisfy, field(deb, "Depends"), network=True)
        new, old = (f"/root/{it.name}" for it in (deb, before))
        yield System(release, root, friend, listed(root.folder, OF_THE_SYSTEM), new, old)


@pytest.fixture(scope="module")
def first(system: System, request: pytest.FixtureRequest) -> System:
    """The version before is installed, and has given its first answer."""
    began = time.monotonic()
    system.root.run(*INSTALL, system.old)
    installed = time.monotonic()
    assert "Hearth" in system.hearth("ask", QUESTION)
    answered = time.monotonic()
    tell(
        request,
        f"{system.release.title}: installed in {installed - began:.1f} s, "
        f"first answer {answered - installed:.1f} s later",
    )
    assert answered - began < FIRST_ANSWER_S
    return system


@pytest.fixture(scope="module")
def used(first: System) -> System:
    """There are a chat and a setting that have to be kept."""
    first.hearth("chat", given=f"{QUESTION}\n")
    first.hearth("settings", "set", "temperature", "0.3")
    return first


@pytest.fixture(scope="module")
def upgraded(used: System) -> System:
    used.root.run(*INSTALL, used.new)
    return used


@pytest.fixture(scope="module")
def removed(upgraded: System) -> System:
    upgraded.root.run("apt-get", "remove", "-y", "hearth")
    return upgraded


@pytest.fixture(scope="module")
def purged(removed: System) -> System:
    removed.root.run("apt-get", "purge", "-y", "hearth")
    return removed


def test_nothing_that_compiles_is_there(system: System) -> None:
    for tool in COMPILERS:
        found = system.root.run("sh", "-c", f"command -v {tool}", check=False)
        assert found.returncode, f"{found.stdout} came with what the package depends on"
    assert not list(system.root.folder.glob("usr/include/python3*/Python.h"))


def test_the_first_answer_comes_within_a_minute_of_the_double_click(first: System) -> None:
    assert first.installed().endswith("~before")


def test_an_answer_needs_nobody_on_the_network(first: System) -> None:
    answer = json.loads(first.hearth("ask", QUESTION, "--json"))
    assert answer["engine"] == "llamacpp"
    assert answer["model"] == "starter"
    assert answer["finish_reason"] == "stop"
    assert not first.root.packets_sent(), "Hearth has sent something to somewhere"


def test_all_that_doctor_looks_at_is_well(first: System) -> None:
    report = json.loads(first.hearth("doctor", "--json"))
    assert [it for it in report if it["state"] == "failed"] == []


def test_a_document_is_read_in_a_process_of_its_own(first: System) -> None:
    notes = first.root.folder / f"{HOME[1:]}/notes.md"
    notes.write_text("# Notes\n\nThe harbour lies at the mouth of the river.\n")
    assert first.hearth("ask", QUESTION, "--file", "notes.md")
    notes.unlink()


def test_the_window_opens(
    first: System, x_display: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    log = tmp_path / "log"
    began = time.monotonic()
    opened = first.root.running("hearth", user=first.friend, log=log, DISPLAY=x_display)
    with opened as process:
        try:
            box = screen.wait_for_window(x_display, "Hearth", FIRST_WINDOW_S)
            tell(
                request, f"{first.release.title}: first window in {time.monotonic() - began:.1f} s"
            )
            time.sleep(5)  # until what is loaded after the first painting has come, too
            seen = screen.picture(x_display, box)
            seen.save(KEPT / f"{first.release}.png")
            assert screen.shades(seen) > 50
            assert first.root.ask_to_end(process) == 0
        except AssertionError as error:
            error.add_note(log.read_text("utf-8", "replace"))
            raise
    assert not first.root.processes()
    assert not first.root.packets_sent(), "the window has sent something to somewhere"


def test_an_upgrade_keeps_chats_and_settings(used: System, request: pytest.FixtureRequest) -> None:
    (chat,) = json.loads(used.hearth("chats", "list", "--json"))
    before = used.hearth("chats", "show", str(chat["id"]))
    assert QUESTION in before
    system: System = request.getfixturevalue("upgraded")
    assert system.installed()
    assert not system.installed().endswith("~before")
    assert system.hearth("chats", "show", str(chat["id"])) == before
    assert system.hearth("settings", "get", "temperature").strip() == "0.3"
    assert system.hearth("ask", QUESTION)


def test_a_chat_goes_on_after_the_upgrade(upgraded: System) -> None:
    (chat,) = json.loads(upgraded.hearth("chats", "list", "--json"))
    assert upgraded.hearth("ask", QUESTION, "--chat", str(chat["id"]))
    assert upgraded.hearth("chats", "show", str(chat["id"])).count("## You") == 2


def test_what_is_removed_does_not_run_any_more(removed: System) -> None:
    assert not removed.installed()
    assert removed.root.run("sh", "-c", "command -v hearth", check=False).returncode
    assert not removed.root.processes()


def test_nothing_is_left_but_what_is_the_users(purged: System) -> None:
    root = purged.root.folder
    assert (root / DATA[1:] / "chats.db").exists(), "the chats are not the package's"
    found = compare(purged.before, listed(root, (*OF_THE_SYSTEM, DATA)))
    own = {f"{HOME}/.local", f"{HOME}/.local/share", f"{HOME}/.cache"}
    assert set(found.added) <= own, sorted(set(found.added) - own)
    assert not found.gone
    assert not found.changed
    assert not naming(root, "io.github.hearth", ("/etc", "/usr/share", "/var/lib/dpkg/info"))


def test_it_can_come_again_and_finds_the_chats(purged: System) -> None:
    purged.root.run(*INSTALL, purged.new)
    assert len(json.loads(purged.hearth("chats", "list", "--json"))) == 1
    assert not purged.root.packets_sent()
