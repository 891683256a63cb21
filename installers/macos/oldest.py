"""Checks the macOS that an app's code needs: `python3 oldest.py APP`.

pip chooses wheels for the macOS that it runs on. A build on a new macOS could therefore contain a
library that does not load on the oldest one named in the app's Info.plist; such a file is refused.
`--list` prints the files with code instead, the most deeply nested first.
"""

from __future__ import annotations

import argparse
import plistlib
import struct
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_UNIVERSAL: Final = 0xCAFEBABE
_SINGLE: Final = b"\xcf\xfa\xed\xfe"
"""The first bytes of a file with code for several processors, and for one (64 bits)."""
_VERSION_MIN_MACOS: Final = 0x24
_BUILD_VERSION: Final = 0x32
_MOST_PROCESSORS: Final = 20
"""Java's class files begin like universal files, but no universal file has so many processors."""

Version = tuple[int, int]


def main(words: Sequence[str] | None = None) -> int:
    """Print the result; return 1 if something needs a newer macOS."""
    parser = argparse.ArgumentParser(description="Find the code in an app for macOS.")
    parser.add_argument("app", type=Path, metavar="APP")
    parser.add_argument("--list", action="store_true", help="print the files with code")
    args = parser.parse_args(words)
    files = sorted(code_in(args.app), key=lambda file: (-len(file.parts), file))
    if args.list:
        print("\n".join(map(str, files)))
        return 0
    info = plistlib.loads((args.app / "Contents" / "Info.plist").read_bytes())
    promised = version_of(info["LSMinimumSystemVersion"])
    newer = {
        file: version for file in files if (version := needed_version(file.read_bytes())) > promised
    }
    for path, version in newer.items():
        print(f"{path} needs macOS {version[0]}.{version[1]}", file=sys.stderr)
    if newer:
        print(
            f"The app promises to run on macOS {promised[0]}.{promised[1]}. Build it on an older "
            "macOS, or raise LSMinimumSystemVersion in installers/macos/Info.plist.",
            file=sys.stderr,
        )
    return 1 if newer else 0


def version_of(text: str) -> Version:
    """Parse a version such as 14 or 14.2."""
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


def code_in(folder: Path) -> Iterator[Path]:
    """Yield the files with code in a folder; links are skipped, as their targets are found, too."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if _is_code(file.read(8)):
                    yield path


def _is_code(first_bytes: bytes) -> bool:
    if first_bytes[:4] == _SINGLE:
        return True
    if len(first_bytes) < 8:
        return False
    kind, processors = struct.unpack(">II", first_bytes)
    return kind == _UNIVERSAL and processors <= _MOST_PROCESSORS


def needed_version(data: bytes) -> Version:
    """Return the macOS that a file needs, the newest of its parts; (0, 0) if it does not say."""
    if data[:4] == _SINGLE:
        return _needed_of_single(data)
    _, count = struct.unpack_from(">II", data)
    # For each processor: two numbers that name it, the code's offset, its size, and its alignment.
    parts = (struct.unpack_from(">IIIII", data, 8 + 20 * number) for number in range(count))
    return max(
        (_needed_of_single(data[at : at + size]) for _, _, at, size, _ in parts), default=(0, 0)
    )


def _needed_of_single(data: bytes) -> Version:
    (commands,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command in (_VERSION_MIN_MACOS, _BUILD_VERSION):
            # LC_BUILD_VERSION has the platform before the version.
            (version,) = struct.unpack_from(
                "<I", data, at + (12 if command == _BUILD_VERSION else 8)
            )
            return version >> 16, version >> 8 & 0xFF
        at += size
    return 0, 0


if __name__ == "__main__":
    sys.exit(main())
