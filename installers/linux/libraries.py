"""The libraries of a bundle: which it holds, and which it needs of the system."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

PACKAGES: Mapping[str, str] = {
    "ld-linux-aarch64.so.1": "libc6 (>= 2.34)",
    "ld-linux-x86-64.so.2": "libc6 (>= 2.34)",
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libOpenGL.so.0": "libopengl0",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libXau.so.6": "libxau6",
    "libXext.so.6": "libxext6",
    "libc.so.6": "libc6 (>= 2.34)",
    "libdbus-1.so.3": "libdbus-1-3",
    "libdl.so.2": "libc6 (>= 2.34)",
    "libdrm.so.2": "libdrm2",
    "libexpat.so.1": "libexpat1",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libgcc_s.so.1": "libgcc-s1",
    "libglib-2.0.so.0": "libglib2.0-0t64 | libglib2.0-0",
    "libgssapi_krb5.so.2": "libgssapi-krb5-2",
    "libgthread-2.0.so.0": "libglib2.0-0t64 | libglib2.0-0",
    "libm.so.6": "libc6 (>= 2.34)",
    "libmvec.so.1": "libc6 (>= 2.34)",
    "libpthread.so.0": "libc6 (>= 2.34)",
    "libresolv.so.2": "libc6 (>= 2.34)",
    "librt.so.1": "libc6 (>= 2.34)",
    "libstdc++.so.6": "libstdc++6 (>= 12)",
    "libutil.so.1": "libc6 (>= 2.34)",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
    "libxcb.so.1": "libxcb1",
    "libzstd.so.1": "libzstd1",
}
"""The libraries that a bundle may leave to the system, and Debian's packages that have them."""

OPTIONAL = frozenset({"libvulkan.so.1"})
"""What only a module needs that is left alone where the system does not have it."""

_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
_HASHED = re.compile(r"-[0-9a-f]{8}\.")
_OWN_XCB = re.compile(rb"libxcb-[0-9a-f]{8}\.so\.1[.\d]*(?=\0)")


def needed(bundle: Path) -> dict[str, set[str]]:
    """Return the names of libraries that the files of a bundle need from outside, with these files.

    Raises OSError, where readelf of binutils is missing.
    """
    files = [it for it in sorted(bundle.rglob("*")) if is_elf(it)]
    held = {it.name for it in files}
    found: dict[str, set[str]] = {}
    for file in files:
        command = ["readelf", "--wide", "--dynamic", str(file)]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name in set(_NEEDED.findall(said)) - held:
            found.setdefault(name, set()).add(file.relative_to(bundle).as_posix())
    return found


def unexpected(bundle: Path) -> set[str]:
    """Return the libraries that a bundle needs and no package is known to have."""
    return needed(bundle).keys() - PACKAGES.keys() - OPTIONAL


def debian_packages(libraries: Iterable[str]) -> list[str]:
    """Return the packages of Debian and Ubuntu that have these libraries."""
    return sorted({PACKAGES[it] for it in libraries if it in PACKAGES})


def is_elf(path: Path) -> bool:
    """Tell whether a file is a program or a library of Linux."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def strip(bundle: Path) -> None:
    """Take what only debuggers read out of libraries, where that does no harm.

    Those that auditwheel has laid out anew may be broken by strip. They have a path to libraries
    beside them, of which Pillow's are known to bear it, or lie there, with a hash in their names.
    """
    if (program := shutil.which("strip")) is None:
        return
    for path in sorted(it for it in (bundle / "_internal").rglob("*.so*") if is_elf(it)):
        beside = path.parent.name.endswith(".libs") or _HASHED.search(path.name)
        laid_out = path.parent.name != "PIL" and b"$ORIGIN" in path.read_bytes()
        if not beside and not laid_out:
            subprocess.run([program, "--strip-unneeded", str(path)], check=True)


def share_xcb(bundle: Path) -> None:
    """Have Pillow use the system's libxcb, as Qt does beside it, instead of one of its own.

    That one is there for pictures of the screen, which Hearth takes none of, and brings 2 MB of
    nothing in a libXau. The name in the library is overwritten by the system's, which is shorter.
    """
    for path in bundle.glob("_internal/PIL/_imaging.*.so"):
        data = path.read_bytes()
        path.write_bytes(_OWN_XCB.sub(lambda it: b"libxcb.so.1".ljust(len(it[0]), b"\0"), data))
    for pattern in ("libxcb-*.so.1*", "libXau-*.so.6*"):
        for path in bundle.glob(f"_internal/pillow.libs/{pattern}"):
            path.unlink()
