"""A root with a package of two files, on which the tests of Hearth's own packages rely."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packages.leftovers import compare, listed
from tests.packages.packages import field, older
from tests.packages.releases import RELEASES
from tests.packages.roots import Root, User
from tests.packages.trying import WANTED, clean_root
from tests.support.waiting import until

pytestmark = [pytest.mark.packages, WANTED, pytest.mark.timeout(600)]

CONTROL = """\
Package: small
Version: 1.0
Architecture: all
Maintainer: Nobody <nobody@example.invalid>
Depends: libc6
Description: Two files and a script that leaves a third
"""
LEAVES = '#!/bin/sh\nset -e\n[ "$1" != configure ] || echo left > /var/lib/left-by-small\n'


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a package that does not remove the files of its own script."""
    tree = tmp_path_factory.mktemp("small")
    for name, text in {
        "DEBIAN/control": CONTROL,
        "DEBIAN/conffiles": "/etc/small.conf\n",
        "DEBIAN/postinst": LEAVES,
        "etc/small.conf": "size = small\n",
        "usr/bin/small": "#!/bin/sh\necho small\n",
    }.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
        (tree / name).chmod(0o755 if text.startswith("#!") else 0o644)
    made = tree.parent / "small_1.0_all.deb"
    words = ["dpkg-deb", "--root-owner-group", "--build", str(tree), str(made)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return made


@pytest.fixture(scope="module")
def root() -> Iterator[Root]:
    with clean_root(RELEASES[0]) as made:
        yield made


@pytest.fixture(scope="module")
def friend(root: Root) -> User:
    return root.add_user("friend")


def test_a_command_runs_as_its_user_and_sees_no_more_than_the_root(
    root: Root, friend: User
) -> None:
    assert root.run("id", "-un", user=friend).stdout == "friend\n"
    assert root.run("pwd", user=friend).stdout == "/home/friend\n"
    assert root.run("cat", user=friend, given="said").stdout == "said"
    seen = root.run("sh", "-c", "ls -d /proc/[0-9]* | wc -l").stdout
    assert int(seen) < 8, "the processes of the computer are not seen"
    assert root.run("test", "-w", "/sys/kernel", user=friend, check=False).returncode


def test_nothing_of_the_root_is_seen_outside(root: Root) -> None:
    assert str(root.folder) not in Path("/proc/self/mounts").read_text()


def test_what_is_sent_to_anywhere_is_counted_and_arrives_nowhere(root: Root) -> None:
    before = root.packets_sent()
    root.run("bash", "-c", "echo > /dev/udp/198.51.100.7/53")
    assert root.packets_sent() == before + 1
    root.run("bash", "-c", "echo > /dev/udp/127.0.0.1/53")
    assert root.packets_sent() == before + 1, "loopback is not anywhere"


def test_who_ends_after_its_parent_is_not_left_as_a_zombie(root: Root) -> None:
    root.run("sh", "-c", "setsid sleep 0.1 >/dev/null 2>&1 &")
    until(lambda: not root.processes())
    assert "Z" not in root.run("sh", "-c", "cut -d' ' -f3 /proc/[0-9]*/stat").stdout


def test_what_still_runs_ends_with_the_root(tmp_path: Path) -> None:
    with clean_root(RELEASES[1]) as root:
        root.run("sh", "-c", "setsid sleep 1234 >/dev/null 2>&1 &")
        (left,) = root.processes()
        assert left.endswith("sleep 1234")
        words = root.running("sleep", "4321", user=root.add_user("friend"), log=tmp_path / "log")
        with words as process:
            assert root.ask_to_end(process)
        folder = root.folder
    table = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True).stdout
    assert "sleep 1234" not in table
    assert not folder.exists()


def test_a_package_comes_as_an_older_version_is_upgraded_and_leaves_what_it_forgets(
    root: Root, friend: User, small: Path, tmp_path: Path
) -> None:
    before = listed(root.folder)
    for package in (older(small, tmp_path), small):
        (root.folder / "root" / package.name).write_bytes(package.read_bytes())
        root.run("apt-get", "install", "-y", f"/root/{package.name}")
        (root.folder / "root" / package.name).unlink()
        shown = root.run("dpkg-query", "--show", "--showformat=${Version}", "small").stdout
        assert shown == field(package, "Version")
    assert root.run("small", user=friend).stdout == "small\n"
    root.run("apt-get", "remove", "-y", "small")
    assert set(compare(before, listed(root.folder)).added) == {
        "/etc/small.conf",
        "/var/lib/dpkg/info/small.list",
        "/var/lib/left-by-small",
    }
    root.run("apt-get", "purge", "-y", "small")
    assert compare(before, listed(root.folder)).added == ("/var/lib/left-by-small",)
