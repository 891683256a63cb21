"""The installer for Windows, as far as it needs no NSIS; tests/packages builds and runs it."""

from __future__ import annotations

import re
import struct

import pytest

from installers import icon_files
from installers.windows.packages import quad
from tests.support.paths import ROOT

FOLDER = ROOT / "installers" / "windows"


@pytest.mark.parametrize(
    ("version", "numbers"),
    [("0.1.0", "0.1.0.0"), ("1.2", "1.2.0.0"), ("2.0.0rc1", "2.0.0.0"), ("1.2.3.4", "1.2.3.4")],
)
def test_a_version_is_four_numbers_to_windows(version: str, numbers: str) -> None:
    assert quad(version) == numbers


def test_whatever_the_installer_says_it_says_in_both_languages() -> None:
    script = (FOLDER / "hearth.nsi").read_text(encoding="utf-8")
    words = (FOLDER / "words.nsh").read_text(encoding="utf-8")
    told = {
        language: set(re.findall(rf"LangString (\w+) \${{LANG_{language}}}", words))
        for language in ("ENGLISH", "GERMAN")
    }
    assert told["ENGLISH"] == told["GERMAN"]
    assert told["ENGLISH"] == set(re.findall(r"\$\((\w+)\)", script))


def test_an_icon_of_windows_says_where_each_of_its_drawings_is() -> None:
    png = b"\x89PNG\r\n\x1a\n" + bytes(20)
    # The three rows of a bitmap come from bottom to top, as Windows keeps them.
    rows = b"".join(bytes([row]) * 64 for row in range(16))
    icon = icon_files.ico({256: (png, b""), 16: (png, rows)})
    assert struct.unpack_from("<HHH", icon) == (0, 1, 2)
    small = struct.unpack_from("<BBBBHHII", icon, 6)
    large = struct.unpack_from("<BBBBHHII", icon, 22)
    assert small[:2] == (16, 16)
    assert large[:2] == (0, 0), "which stand for 256"
    assert icon[large[7] : large[7] + large[6]] == png
    bitmap = icon[small[7] : small[7] + small[6]]
    assert struct.unpack_from("<Iii", bitmap) == (40, 16, 32)
    assert bitmap[40] == 15
    assert len(bitmap) == 40 + 16 * 64 + 16 * 4


def test_an_icon_of_macos_has_all_sizes() -> None:
    pngs = {size: bytes([size % 251]) * size for size in icon_files.MACOS.values()}
    icon = icon_files.icns(pngs)
    assert struct.unpack_from(">4sI", icon) == (b"icns", len(icon))
    at, found = 8, {}
    while at < len(icon):
        kind, length = struct.unpack_from(">4sI", icon, at)
        found[kind] = icon[at + 8 : at + length]
        at += length
    assert found == {kind: pngs[size] for kind, size in icon_files.MACOS.items()}
