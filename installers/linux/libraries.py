"""The libraries that a bundle contains, and those that it needs from the system."""

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
"""Libraries that a bundle can take from the system, and the Debian packages that have them."""

OPTIONAL = frozenset({"libvulkan.so.1"})
"""Needed only by a module that is not loaded if the system lacks them."""

_NEEDED = re.compile(r"\(NEEDED\).*\[(.+)\]")
_HASHED = re.compile(r"-[0-9a-f]{8}\.")
_OWN_XCB = re.compile(rb"libxcb-[0-9a-f]{8}\.so\.1[.\d]*(?=\0)")


def needed(bundle: Path) -> dict[str, set[str]]:
    """Return the libraries that a bundle needs from outside, with the files that need each.

    Raises OSError if readelf of binutils is missing.
    """
    files = [path for path in sorted(bundle.rglob("*")) if is_elf(path)]
    contained = {path.name for path in files}
    users: dict[str, set[str]] = {}
    for file in files:
        command = ["readelf", "--wide", "--dynamic", str(file)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for name in set(_NEEDED.findall(output)) - contained:
            users.setdefault(name, set()).add(file.relative_to(bundle).as_posix())
    return users


def unexpected(bundle: Path) -> set[str]:
    """Return the libraries that a bundle needs and that are in no known package."""
    return needed(bundle).keys() - PACKAGES.keys() - OPTIONAL


def debian_packages(libraries: Iterable[str]) -> list[str]:
    """Return the packages of Debian and Ubuntu that contain these libraries."""
    return sorted({PACKAGES[library] for library in libraries if library in PACKAGES})


def is_elf(path: Path) -> bool:
    """Return whether a file is a program or a library of Linux."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(4) == b"\x7fELF"


def strip(bundle: Path) -> None:
    """Remove the parts of libraries that only debuggers read, if that is safe.

    strip can break libraries that auditwheel has rewritten. These contain a path to libraries
    beside them, or are such libraries with a hash in their names. Pillow's contain such a path, but
    strip is known not to break them.
    """
    if (program := shutil.which("strip")) is None:
        return
    for path in sorted(path for path in (bundle / "_internal").rglob("*.so*") if is_elf(path)):
        is_bundled_copy = path.parent.name.endswith(".libs") or _HASHED.search(path.name)
        has_origin = path.parent.name != "PIL" and b"$ORIGIN" in path.read_bytes()
        if not is_bundled_copy and not has_origin:
            subprocess.run([program, "--strip-unneeded", str(path)], check=True)


def share_xcb(bundle: Path) -> None:
    """Make Pillow use the system's libxcb, as Qt does, instead of a copy of its own.

    The copy is for screenshots, which Hearth does not take, and comes with a libXau that has 2 MB
    of padding. The library's name inside the file is overwritten by the system's, which is shorter.
    """
    for path in bundle.glob("_internal/PIL/_imaging.*.so"):
        data = path.read_bytes()
        path.write_bytes(
            _OWN_XCB.sub(lambda match: b"libxcb.so.1".ljust(len(match[0]), b"\0"), data)
        )
    for pattern in ("libxcb-*.so.1*", "libXau-*.so.6*"):
        for path in bundle.glob(f"_internal/pillow.libs/{pattern}"):
            path.unlink()
