"""The licences of Hearth's parts, from the installed packages and from a package's list."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from app.base.errors import LicencesUnreadable, PartUnknown
from app.base.shipped import LICENCES
from app.help.services.licences import Licences, key_of
from app.help.values.about import Part
from tests.support.paths import ROOT

SPDX = re.compile(r"[A-Za-z0-9.-]+( (AND|OR|WITH) [A-Za-z0-9.-]+)*")


@pytest.fixture(scope="module")
def parts() -> tuple[Part, ...]:
    return Licences(LICENCES).all()


def locked() -> set[str]:
    text = (ROOT / "installers/lock/app.txt").read_text(encoding="utf-8")
    return {key_of(name) for name in re.findall(r"^([\w.-]+)==", text, re.MULTILINE)}


def test_every_part_has_a_version_a_named_licence_and_its_text(
    parts: tuple[Part, ...],
) -> None:
    licences = Licences(LICENCES)
    for part in parts:
        assert part.version, part
        assert SPDX.fullmatch(part.licence), part
        assert part.source or ("GPL" not in part.licence and "MPL" not in part.licence), part
        assert licences.text(part).joined, part


def test_what_is_installed_is_listed_and_what_only_the_tests_need_is_not(
    parts: tuple[Part, ...],
) -> None:
    names = {key_of(part.name) for part in parts}
    assert {"pyside6-essentials", "numpy", "llama-cpp-python", "llama-cpp", "inter"} <= names
    assert "pytest" not in names
    # Three packages of the lock are for Windows or for a Python in a browser.
    elsewhere = {"colorama", "httpx2-jsfetch", "pywin32-ctypes"}
    assert locked() - names <= elsewhere | {"backports-tarfile", "importlib-metadata", "zipp"} | {
        "lazy-importer", "jeepney", "secretstorage", "cryptography", "cffi", "pycparser",
    }  # fmt: skip


def test_all_that_a_part_needs_is_listed_too(parts: tuple[Part, ...]) -> None:
    names = {key_of(part.name) for part in parts}
    elsewhere = {"httpx2-jsfetch", "colorama"}
    for part in parts:
        assert {key_of(name) for name in part.needs} <= names | elsewhere, part


def test_the_parts_within_llama_cpp_were_looked_up_for_the_locked_version() -> None:
    told = json.loads((LICENCES / "parts.json").read_text(encoding="utf-8"))
    lock = (ROOT / "installers/lock/native.txt").read_text(encoding="utf-8")
    assert f"llama-cpp-python=={told['packages']['llama-cpp-python']['read_for']} " in lock


def test_texts_of_one_name_are_told_apart_by_their_folders() -> None:
    licences = Licences(LICENCES)
    names = [name for name, _ in licences.text(licences.part("NumPy")).texts]
    assert len(names) == len(set(names)) > 10


def test_a_library_under_the_lgpl_tells_that_it_may_be_replaced_and_where_its_source_is() -> None:
    licences = Licences(LICENCES)
    for name in ("Qt", "PySide6_Essentials", "shiboken6"):
        notice = licences.text(licences.part(name)).notice
        assert "which you may replace" in notice
        assert "https://" in notice
    assert licences.text(licences.part("numpy")).notice == ""


def test_a_package_of_hearth_has_its_own_list(tmp_path: Path) -> None:
    shutil.copytree(LICENCES, tmp_path / "licences")
    packed = tmp_path / "licences" / "packed"
    (packed / "zlib").mkdir(parents=True)
    (packed / "zlib" / "LICENSE").write_text("Use it freely.", encoding="utf-8")
    entry = {"name": "zlib", "version": "1.3", "licence": "Zlib", "source": "https://zlib.net"}
    listed = [{**entry, "texts": ["zlib/LICENSE"], "needs": []}]
    (packed / "parts.json").write_text(json.dumps(listed), encoding="utf-8")
    licences = Licences(tmp_path / "licences")
    assert [part.name for part in licences.all()] == ["zlib"]
    assert licences.text(licences.part("zlib")).joined == "Use it freely."


def test_a_name_that_is_no_part_is_refused() -> None:
    with pytest.raises(PartUnknown, match="list of all licences"):
        Licences(LICENCES).part("banana")


def test_a_damaged_list_says_so(tmp_path: Path) -> None:
    (tmp_path / "packed").mkdir()
    (tmp_path / "packed" / "parts.json").write_text("[", encoding="utf-8")
    with pytest.raises(LicencesUnreadable, match=r"parts\.json"):
        Licences(tmp_path).all()
