"""Clean minimal roots of Debian and Ubuntu, made by debootstrap once and kept as archives."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from tests.support.paths import ROOT

KEPT: Final = ROOT / ".cache" / "roots"
"""The archives, the packages that apt has fetched per release, and the last pictures of windows."""

PACKAGE_OF: Final[Mapping[str, str]] = {
    "debootstrap": "debootstrap",
    "dpkg-deb": "dpkg",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "unshare": "util-linux",
    "xwininfo": "x11-utils",
    "Xvfb": "xvfb",
}
"""The programs that are needed here, outside the roots, and their packages in Debian."""


@dataclass(frozen=True)
class Release:
    """A release of a system, and the parts of its archive that users' computers use."""

    name: str
    system: str
    title: str
    components: str = "main"

    def __str__(self) -> str:
        return self.name


RELEASES: Final = (
    Release("bookworm", "Debian", "Debian 12"),
    Release("trixie", "Debian", "Debian 13"),
    Release("noble", "Ubuntu", "Ubuntu 24.04", "main,universe"),
)


class NoRootError(Exception):
    """A root of a release cannot be made here; the text says why, and what to do."""


def hindrance() -> str | None:
    """Return the reason why no root can be made here, if there is one."""
    if sys.platform != "linux":
        return "Packages of Debian are tried on Linux only."
    if os.geteuid():
        return "A root is made and entered with the rights of root: run this as root, or by sudo."
    missing = {package for tool, package in PACKAGE_OF.items() if not shutil.which(tool)}
    if missing:
        return f"Missing here: apt-get install {' '.join(sorted(missing))}"
    # A mount and a network of its own, as Root needs them; a container may forbid either.
    trial = "mount -t tmpfs none /mnt && ip tuntap add mode tun name away"
    words = ["unshare", "--mount", "--net", "--pid", "--fork", "sh", "-c", trial]
    tried = subprocess.run(words, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"This system lets nobody mount or make a network of its own: {tried.stderr.strip()}"
    return None


def unpack(release: Release, folder: Path) -> None:
    """Unpack a clean root into an empty folder.

    Raises:
        NoRootError: It cannot be made.
    """
    archive = KEPT / f"{release}.tar"
    if not archive.exists():
        KEPT.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=KEPT) as made:
            _bootstrap(release, Path(made) / "root")
            unfinished = Path(made) / "root.tar"
            _tar("-cf", unfinished, Path(made) / "root")
            unfinished.replace(archive)
    _tar("-xf", archive, folder)
    # Name resolution is that of this computer, as of today.
    shutil.copyfile("/etc/resolv.conf", folder / "etc" / "resolv.conf")


def _tar(what: str, archive: Path, folder: Path) -> None:
    words = ["tar", "--numeric-owner", "--xattrs", what, str(archive), "-C", str(folder), "."]
    subprocess.run(words if what == "-cf" else words[:-1], check=True)


def _bootstrap(release: Release, folder: Path) -> None:
    """Let debootstrap fetch a minimal system, from the mirror that is in use here.

    If this system has no mirror of that kind, debootstrap uses the release's own.
    """
    scripts = Path("/usr/share/debootstrap/scripts")
    # An older debootstrap does not know a newer name; all of Ubuntu is made in the same way.
    script = next(it for it in (scripts / release.name, scripts / "jammy") if it.exists())
    words = [
        "debootstrap",
        "--variant=minbase",
        f"--components={release.components}",
        f"--keyring={_keyring(release)}",
        release.name,
        str(folder),
        mirror_of(release),
        str(script),
    ]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        said = "\n".join(done.stdout.splitlines()[-5:])
        raise NoRootError(f"debootstrap made no root of {release.title}: {said}")


def mirror_of(release: Release) -> str:
    """Return the first address from which apt here takes packages of that system; often none."""
    ask = ["apt-get", "indextargets", "--format", "$(SITE)", "Created-By: Packages"]
    words = [*ask, f"Label: {release.system}"]
    found = subprocess.run(words, capture_output=True, text=True, check=False).stdout.split()
    return min(found, default="")


def _keyring(release: Release) -> Path:
    """Find the keys of the release's archive; those of Ubuntu are in a package of Debian 13.

    Fetched from there, by a root of it, they are as trustworthy as Debian's own keys.
    """
    name = f"{release.system.lower()}-archive-keyring.gpg"
    place = Path("usr/share/keyrings") / name
    here, kept = "/" / place, KEPT / name
    if here.exists():
        return here
    if release.system != "Ubuntu":
        raise NoRootError(f"{here} is not here: apt-get install {release.system.lower()}-keyring")
    if not kept.exists():
        with TemporaryDirectory(dir=KEPT) as made:
            root = Path(made)
            trixie = next(it for it in RELEASES if it.name == "trixie")
            unpack(trixie, root)
            fetch = "apt-get update -q && cd /tmp && apt-get download -q ubuntu-keyring"
            subprocess.run(["chroot", made, "sh", "-ec", fetch], check=True, capture_output=True)
            (package,) = (root / "tmp").glob("ubuntu-keyring_*.deb")
            subprocess.run(["dpkg-deb", "-x", str(package), made], check=True)
            shutil.copy(root / place, kept)
    return kept
