"""Finds code for macOS in an app: `python3 oldest.py APP` refuses what needs a newer macOS.

pip chooses wheels for the macOS that it runs on. So a build on a new one could hold a library that
does not load on the oldest that the app names in its Info.plist. `--list` prints the files instead,
those further inside first.
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
_ONE: Final = b"\xcf\xfa\xed\xfe"
"""How a file begins that holds code for several processors, and one for one (64 bits)."""
_VERSION_MIN_MACOS: Final = 0x24
_BUILD_VERSION: Final = 0x32
_MOST_PROCESSORS: Final = 20
"""Java's classes begin as universal files do; but no file is for so many processors."""

Version = tuple[int, int]


def main(words: Sequence[str] | None = None) -> int:
    """Print what is asked for; returns 1 if something needs a newer macOS."""
    parser = argparse.ArgumentParser(description="Find the code in an app for macOS.")
    parser.add_argument("app", type=Path, metavar="APP")
    parser.add_argument("--list", action="store_true", help="print the files with code")
    args = parser.parse_args(words)
    found = sorted(code_in(args.app), key=lambda it: (-len(it.parts), it))
    if args.list:
        print("\n".join(map(str, found)))
        return 0
    info = plistlib.loads((args.app / "Contents" / "Info.plist").read_bytes())
    promised = version_of(info["LSMinimumSystemVersion"])
    newer = {it: needs for it in found if (needs := needed(it.read_bytes())) > promised}
    for path, needs in newer.items():
        print(f"{path} needs macOS {needs[0]}.{needs[1]}", file=sys.stderr)
    if newer:
        print(
            f"The app promises to run on macOS {promised[0]}.{promised[1]}. Build it on an older "
            "macOS, or raise LSMinimumSystemVersion in installers/macos/Info.plist.",
            file=sys.stderr,
        )
    return 1 if newer else 0


def version_of(text: str) -> Version:
    """Read a version such as 14 or 14.2."""
    major, _, minor = text.partition(".")
    return int(major), int(minor or 0)


def code_in(folder: Path) -> Iterator[Path]:
    """Yield the files with code in a folder; links lead to others that are there."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                if _is_code(file.read(8)):
                    yield path


def _is_code(begin: bytes) -> bool:
    if begin[:4] == _ONE:
        return True
    if len(begin) < 8:
        return False
    kind, processors = struct.unpack(">II", begin)
    return kind == _UNIVERSAL and processors <= _MOST_PROCESSORS


def needed(data: bytes) -> Version:
    """Return the macOS that code needs, the newest of its parts; (0, 0) where it does not say."""
    if data[:4] == _ONE:
        return _needed_of_one(data)
    _, count = struct.unpack_from(">II", data)
    # Of each processor: two numbers for it, where its code begins, its length, its alignment.
    parts = (struct.unpack_from(">IIIII", data, 8 + 20 * number) for number in range(count))
    return max(
        (_needed_of_one(data[at : at + size]) for _, _, at, size, _ in parts), default=(0, 0)
    )


def _needed_of_one(data: bytes) -> Version:
    (commands,) = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(commands):
        command, size = struct.unpack_from("<II", data, at)
        if command in (_VERSION_MIN_MACOS, _BUILD_VERSION):
            # LC_BUILD_VERSION names the platform before it.
            (version,) = struct.unpack_from(
                "<I", data, at + (12 if command == _BUILD_VERSION else 8)
            )
            return version >> 16, version >> 8 & 0xFF
        at += size
    return 0, 0


if __name__ == "__main__":
    sys.exit(main())
