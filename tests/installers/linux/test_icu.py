"""Fewer of ICU's tables: the archive is read and written as ICU reads it."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from installers.linux import icu
from tests.installers.linux.conftest import needs, said

HEADER = b"\x20\0\xda\x27\x14\0\0\0\0\0\x02\0CmnD\1\0\0\0\3\0\0\0 (C)" + bytes(4)
SORT = """
import ctypes, json, sys
folder, version = sys.argv[1:]
for name in ("data", "uc", "i18n"):
    library = ctypes.CDLL(f"{folder}/libicu{name}.so.{version}", ctypes.RTLD_GLOBAL)
opened, key = (getattr(library, f"ucol_{it}_{version}") for it in ("open", "getSortKey"))
opened.restype = ctypes.c_void_p
result = {}
for language in ("de", "sv", "zh", "ja", "root"):
    fault = ctypes.c_int()
    collator = ctypes.c_void_p(opened(language.encode(), ctypes.byref(fault)))
    assert fault.value <= 0, language
    def sort_key(word):
        out = ctypes.create_string_buffer(100)
        size = key(collator, (word + chr(0)).encode("utf-16-le"), len(word), out, 100)
        return out.raw[:size]
    result[language] = sorted(["z", "ö", "å", "a", "ä", "一", "丁", "か"], key=sort_key)
print(json.dumps(result))
"""
TABLES = {"icudt73l/coll/de.res": b"d" * 20, "icudt73l/root.res": b"r" * 16}


def test_an_archive_is_read_as_it_was_written() -> None:
    whole = icu.archive_of(HEADER, TABLES)
    found = icu.tables_of(b"code before it" + whole)
    assert {name: data.rstrip(b"\0") for name, data in found.items()} == TABLES
    assert list(found) == sorted(TABLES)


@pytest.mark.parametrize("data", [b"", b"\x7fELF and no tables", b"\xda\x27\x14\0"])
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="not a library"):
        icu.tables_of(data)


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("coll/zh.res", True),
        ("coll/ucadata.icu", True),
        ("root.res", True),
        ("de.res", True),
        ("pool.res", True),
        ("zoneinfo64.res", False),
        ("nfkc.nrm", True),
        ("sv.res", False),
        ("sr_Latn_RS.res", False),
        ("curr/de.res", False),
        ("brkitr/cjdict.dict", False),
        ("gb18030.cnv", False),
        ("unames.icu", False),
    ],
)
def test_what_sorts_words_is_kept(name: str, kept: bool) -> None:
    assert icu.is_needed(f"icudt73l/{name}") is kept


def test_qts_own_sort_as_before(tmp_path: Path) -> None:
    """Qt sorts with its ICU: once with all tables, and once with those that are kept."""
    needs("as")
    import PySide6

    libraries = Path(PySide6.__file__).parent / "Qt" / "lib"
    found = sorted(libraries.glob("libicu*.so.*"))
    if not found:
        pytest.skip("this Qt has no ICU of its own")
    answers = []
    for name in ("whole", "short"):
        folder = tmp_path / name
        folder.mkdir()
        for library in found:
            shutil.copyfile(library, folder / library.name)
        if name == "short":
            (data,) = folder.glob("libicudata.so.*")
            before = data.stat().st_size
            icu.shorten(data, tmp_path)
            assert data.stat().st_size < before / 8
        answers.append(_sorted_by(folder))
    assert answers[0] == answers[1]
    assert answers[0]["sv"][:5] == ["a", "z", "å", "ä", "ö"]
    assert answers[0]["de"][:5] == ["a", "å", "ä", "ö", "z"]


def _sorted_by(folder: Path) -> dict[str, list[str]]:
    """Sort letters with a folder's ICU, for each of some languages."""
    version = next(folder.glob("libicui18n.so.*")).suffix[1:]
    found: dict[str, list[str]] = json.loads(said(sys.executable, "-c", SORT, folder, version))
    return found
