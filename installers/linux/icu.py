"""Removes from ICU's tables what Hearth never uses, which is nine tenths of 32 MB.

Qt uses ICU only to sort words. It has its own tables for languages, currencies, time zones and word
boundaries. So only the sorting rules of all languages are kept. ICU documents that tables can be
left out ("ICU Data", “Customizing ICU's data”); a missing one counts as unknown.

The tables are one archive in a library without code: a header, the positions of each table's name
and data, then the names and the data. Source: ICU's `ucmndata.h` and `udatamem.h`.
"""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Mapping
from pathlib import Path

_MARK = b"\xda\x27"
_FORMAT = b"CmnD"
_ALIGNED = 16
_PLACE = struct.Struct("<II")
_COUNT = struct.Struct("<I")

_NEEDED = frozenset(
    "root.res en.res de.res icuver.res keyTypeData.res numberingSystems.res pool.res "
    "nfkc.nrm".split()
)
"""Kept besides the sorting rules: names and options of languages, and Unicode normalisation."""

_SOURCE = """
.section .note.GNU-stack, "", %progbits
.section .rodata
.globl {symbol}
.type {symbol}, %object
.balign 16
{symbol}:
.incbin "{data}"
.size {symbol}, . - {symbol}
"""


def shorten(library: Path, work: Path) -> None:
    """Replace a library by one with fewer tables.

    Args:
        work: A folder for temporary files.

    Raises:
        ValueError: It is not a library of ICU's tables.
        OSError: binutils are missing.
    """
    symbol = f"icudt{library.suffix.removeprefix('.')}_dat"
    content = library.read_bytes()
    header, _ = _header(content)
    tables = {name: data for name, data in tables_of(content).items() if is_needed(name)}
    data, code, object_file = (work / f"icu.{suffix}" for suffix in ("dat", "s", "o"))
    data.write_bytes(archive_of(header, tables))
    code.write_text(_SOURCE.format(symbol=symbol, data=data), encoding="utf-8")
    result = work / library.name
    subprocess.run(["as", "-o", str(object_file), str(code)], check=True)
    subprocess.run(
        ["ld", "-shared", "-z", "noexecstack", "-soname", library.name, "-o", str(result),
         str(object_file)],
        check=True,
    )  # fmt: skip
    library.unlink()
    result.replace(library)


def is_needed(name: str) -> bool:
    """Return whether Qt can use a table.

    Args:
        name: With the names of the archive and of the folder, if any, before it.
    """
    _, *folders, file = name.split("/")
    return folders == ["coll"] if folders else file in _NEEDED


def tables_of(library: bytes) -> dict[str, bytes]:
    """Return the tables of a library by name. Raises ValueError."""
    _, offset = _header(library)
    (count,) = _COUNT.unpack_from(library, offset)
    places = [_PLACE.unpack_from(library, offset + 4 + 8 * number) for number in range(count)]
    starts = [start for _, start in places]
    # The end of the last table is unknown, so it extends to the library's end; the excess is
    # harmless.
    ends = [*starts[1:], len(library) - offset]
    tables = {}
    for (name, start), end in zip(places, ends, strict=True):
        text = library[offset + name : library.index(b"\0", offset + name)].decode("ascii")
        tables[text] = library[offset + start : offset + end]
    return tables


def archive_of(header: bytes, tables: Mapping[str, bytes]) -> bytes:
    """Return an archive of tables, sorted by name because ICU searches them by bisection."""
    names = sorted(tables)
    text, offset = bytearray(), _COUNT.size + _PLACE.size * len(names)
    for name in names:
        text += f"{name}\0".encode("ascii")
    data_start = _up(offset + len(text))
    places, body = bytearray(_COUNT.pack(len(names))), bytearray()
    for name in names:
        places += _PLACE.pack(offset, data_start + len(body))
        offset += len(name) + 1
        body += tables[name] + bytes(_up(len(tables[name])) - len(tables[name]))
    padding = bytes(data_start - len(places) - len(text))
    return header + bytes(places) + bytes(text) + padding + bytes(body)


def _header(library: bytes) -> tuple[bytes, int]:
    """Return the archive's header, and the offset of the list after it. Raises ValueError."""
    start = library.find(_MARK + b"\x14\0")
    if start < 2 or library[start + 10 : start + 14] != _FORMAT:
        raise ValueError("This is not a library of ICU's tables.")
    start -= 2
    (size,) = struct.unpack_from("<H", library, start)
    return library[start : start + size], start + size


def _up(size: int) -> int:
    return -(-size // _ALIGNED) * _ALIGNED
