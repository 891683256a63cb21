"""The installation for one user: `install.sh` of the archive, and its removal."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from installers.linux.tree import ID

_CACHES = re.compile(r"/mime/(?!packages/)|/mimeinfo\.cache$")
"""Files that programs of the desktop make of its entries and types."""


_OTHER = """\
<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
<mime-type type="application/x-other"><glob pattern="*.other"/></mime-type>
</mime-info>
"""
"""A type of another program."""


class User:
    """A user with their own home and the unpacked archive in it."""

    def __init__(self, home: Path, archive: Path) -> None:
        self.home = home
        with tarfile.open(archive) as packed:
            packed.extractall(home / "Downloads", filter="data")
        (self.unpacked,) = (home / "Downloads").iterdir()

    def run(self, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        plain = {"HOME": str(self.home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        return subprocess.run(
            ["sh", *command], capture_output=True, text=True, env=plain | variables, timeout=60
        )

    def install(self, **variables: str) -> str:
        ended = self.run(self.unpacked / "install.sh", **variables)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def files(self) -> set[str]:
        """Return all files outside the downloads, except for the caches of the desktop."""
        found = (it for it in self.home.rglob("*") if not it.is_dir() or it.is_symlink())
        names = {it.relative_to(self.home).as_posix() for it in found}
        return {it for it in names if not it.startswith("Downloads/") and not _CACHES.search(it)}


@pytest.fixture
def user(archive: Path, tmp_path: Path) -> User:
    return User(tmp_path / "home ü", archive)


def test_it_installs_and_removes_without_root(user: User) -> None:
    chats = user.home / ".local/share/hearth/chats.db"
    chats.parent.mkdir(parents=True)
    chats.write_text("kept")
    before = user.files()
    assert "is installed" in user.install()
    started = user.home / ".local/bin/hearth"
    assert user.run("-c", f'"{started}" --version').stdout.startswith("hearth ")
    entry = (user.home / f".local/share/applications/{ID}.desktop").read_text()
    assert f'Exec="{user.home}/.local/opt/hearth/program/hearth" open %U' in entry
    assert "Exec=hearth" not in entry
    uninstall = user.home / ".local/opt/hearth/uninstall"
    ended = user.run(uninstall, "--uninstall")
    assert ended.returncode == 0, ended.stderr
    assert "are still in" in ended.stdout
    assert user.files() == before
    assert chats.read_text() == "kept"


@pytest.mark.parametrize("times", [1, 2])
def test_folders_that_it_made_go_with_it_and_others_stay(user: User, times: int) -> None:
    (user.home / ".local/share/icons/hicolor").mkdir(parents=True)
    before = set(user.home.rglob("*"))
    for _ in range(times):
        user.install()
    user.run(user.home / ".local/opt/hearth/uninstall", "--uninstall")
    assert set(user.home.rglob("*")) == before


def test_types_of_others_stay_known(user: User) -> None:
    if shutil.which("update-mime-database") is None:
        pytest.skip("the desktop's lists of types need update-mime-database")
    mime = user.home / ".local/share/mime"
    (mime / "packages").mkdir(parents=True)
    (mime / "packages/other.xml").write_text(_OTHER)
    user.install()
    assert "gguf" in (mime / "globs").read_text()
    user.run(user.home / ".local/opt/hearth/uninstall", "--uninstall")
    assert "gguf" not in (mime / "globs").read_text()
    assert "*.other" in (mime / "globs").read_text()


def test_installed_again_it_takes_the_place_of_the_one_before(user: User) -> None:
    user.install()
    old = user.home / ".local/opt/hearth/program/_internal/old.so"
    old.touch()
    before = user.files() - {old.relative_to(user.home).as_posix()}
    user.install()
    assert user.files() == before


def test_files_of_the_users_own_stay(user: User) -> None:
    own = user.home / ".local/bin/hearth"
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    assert "is a file of yours and stays" in user.install()
    user.run(user.home / ".local/opt/hearth/uninstall", "--uninstall")
    assert own.read_text() == "mine"


def test_a_link_of_the_users_own_stays(user: User) -> None:
    own = user.home / ".local/bin/hearth"
    own.parent.mkdir(parents=True)
    own.symlink_to("/bin/true")
    assert "is a file of yours and stays" in user.install()
    user.run(user.home / ".local/opt/hearth/uninstall", "--uninstall")
    assert own.readlink() == Path("/bin/true")


def test_where_it_was_put_need_not_be_said_again(user: User) -> None:
    said = user.install(HEARTH_PREFIX=str(user.home / "apps/hearth"))
    _, _, command = said.splitlines()[-1].partition(": ")
    assert user.run("-c", command.replace(str(user.home), '"$HOME"')).returncode == 0
    assert user.files() == set()


def test_other_places_are_used_where_they_are_set(user: User) -> None:
    places = {
        "XDG_DATA_HOME": str(user.home / "data"),
        "HEARTH_PREFIX": str(user.home / "apps/hearth"),
    }
    user.install(**places)
    assert (user.home / "apps/hearth/program/hearth").exists()
    assert (user.home / f"data/applications/{ID}.desktop").exists()
    ended = user.run(user.home / "apps/hearth/uninstall", "--uninstall", **places)
    assert ended.returncode == 0, ended.stderr
    assert user.files() == set()


@pytest.mark.parametrize("prefix", ["/", "/opt", "relative/x", "/a|b/c", "/a%b/c", '/a"b/c'])
def test_it_installs_nowhere_odd(user: User, prefix: str) -> None:
    ended = user.run(user.unpacked / "install.sh", HEARTH_PREFIX=prefix)
    assert ended.returncode == 1
    assert user.files() == set()


def test_what_is_not_installed_is_not_removed(user: User) -> None:
    ended = user.run(user.unpacked / "install.sh", "--uninstall")
    assert ended.returncode == 1
    assert "is not installed" in ended.stderr
