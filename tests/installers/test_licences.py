"""The licences of a bundle: which ones are allowed, and that every file has a known one."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.help.services.licences import Licences
from installers import licences
from installers.licences import LicenceError, Part, is_compatible, require_compatible
from tests.support.paths import ROOT

NUMPY = Part("numpy", "2", "BSD-3-Clause", "https://numpy.org", texts={"LICENSE": "Do."})


@pytest.fixture(scope="module")
def told() -> list[Part]:
    return licences.parts_of_hearth(Path(sys.executable))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """Make a bundle with Hearth's own files, one package, and a library of the system."""
    inside = tmp_path / "hearth" / "_internal"
    for name in (
        "resources/licences/parts.json",
        "numpy/core.so",
        "numpy/ma.pyc",
        "json/decoder.pyc",
        "bin/tool",
        "libz.so.1",
        "lib-dynload/_json.so",
        "libpython3.11.so.1.0",
    ):
        path = inside / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    listed = inside / "numpy-2.dist-info"
    listed.mkdir()
    (listed / "RECORD").write_text(
        "numpy/core.so,,\nnumpy/ma.py,,\n../../../bin/tool,,\n", encoding="utf-8"
    )
    return tmp_path / "hearth"


@pytest.mark.parametrize(
    "licence",
    [
        "MIT",
        "Apache-2.0 OR GPL-3.0-only",
        "MPL-2.0 AND MIT",
        "(MIT OR GPL-2.0-only) AND BSD-3-Clause",
        "GPL-2.0-or-later WITH Bootloader-exception",
    ],
)
def test_licences_that_go_with_apache_fit(licence: str) -> None:
    assert is_compatible(licence)


@pytest.mark.parametrize(
    "licence",
    [
        "",
        "BSD",
        "GPL-3.0-or-later",
        "AGPL-3.0-only",
        "MIT AND GPL-2.0-only",
        "GPL-2.0-or-later WITH Classpath-exception-2.0",
        "(MIT",
        "MIT MIT",
        "MIT AND",
        "LicenseRef-Proprietary",
    ],
)
def test_licences_that_do_not_or_that_nobody_knows_do_not_fit(licence: str) -> None:
    assert not is_compatible(licence)


def test_all_that_hearth_is_made_of_here_may_be_given_away(told: list[Part]) -> None:
    require_compatible(told)
    assert {"numpy", "Qt", "llama.cpp", "Python", "Hearth"} <= {part.name for part in told}


def test_a_licence_that_does_not_fit_ends_the_build() -> None:
    with pytest.raises(LicenceError, match=r"under “GPL-3\.0-only”.*Apache-2\.0.*Leave it out"):
        require_compatible([NUMPY, replace(NUMPY, name="readline", licence="GPL-3.0-only")])
    with pytest.raises(LicenceError, match="no named licence"):
        require_compatible([replace(NUMPY, licence="")])


def test_a_licence_without_its_text_ends_the_build() -> None:
    with pytest.raises(LicenceError, match="without the text"):
        require_compatible([replace(NUMPY, texts={"LICENSE": " "})])


def test_the_source_has_to_be_known_of_what_is_under_the_lgpl() -> None:
    require_compatible([replace(NUMPY, source="")])
    with pytest.raises(LicenceError, match="address of the source"):
        require_compatible([replace(NUMPY, licence="LGPL-3.0-only", source="")])


def test_another_version_of_llama_cpp_ends_the_build_until_it_was_looked_through() -> None:
    part = Part("llama_cpp_python", "9.9", "MIT", "")
    with pytest.raises(LicenceError, match=r"the version 9\.9"):
        licences.check_vendored([part])


def test_a_file_of_no_part_is_found(bundle: Path) -> None:
    assert list(licences.unknown_files(bundle)) == []
    (bundle / "_internal" / "libbanana.so.1").write_bytes(b"")
    assert list(licences.unknown_files(bundle)) == ["libbanana.so.1"]


def test_files_of_python_are_known_by_their_names_on_windows_and_macos(bundle: Path) -> None:
    framework = bundle / "_internal" / "Python.framework" / "Versions" / "3.11"
    framework.mkdir(parents=True)
    (framework / "Python").touch()
    for name in ("VCRUNTIME140_1.dll", "MSVCP140.dll", "python311.dll", "select.pyd"):
        (bundle / "_internal" / name).touch()
    assert list(licences.unknown_files(bundle)) == []


def test_a_library_of_the_system_is_a_part(bundle: Path) -> None:
    (found,) = licences.libraries_in(bundle)
    assert (found.name, found.licence) == ("zlib", "Zlib")
    assert any(found.texts.values())


def test_a_library_that_the_wheel_of_llama_cpp_brings_is_a_part_too(bundle: Path) -> None:
    (bundle / "_internal" / "llama_cpp" / "lib").mkdir(parents=True)
    names = ["llama_cpp/lib/libllama.so", "llama_cpp/lib/libgomp.so.1"]
    for name in names:
        (bundle / "_internal" / name).write_bytes(b"")
    record = bundle / "_internal" / "llama_cpp_python-0.3.dist-info" / "RECORD"
    record.parent.mkdir()
    record.write_text("".join(f"{name},,\n" for name in names), encoding="utf-8")
    found = {it.name: it for it in licences.libraries_in(bundle)}
    assert found["GCC's OpenMP"].licence == "GPL-3.0-or-later WITH GCC-exception-3.1"
    assert list(licences.unknown_files(bundle)) == []


def test_a_bundle_without_hearths_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LicenceError, match=r"parts\.json"):
        licences.own_folder(tmp_path)


def test_what_is_put_into_a_bundle_is_what_hearth_reads_there(
    tmp_path: Path, told: list[Part]
) -> None:
    packed = tmp_path / "licences" / "packed"
    licences.write(told, packed)
    (tmp_path / "licences" / "parts.json").write_bytes(
        (ROOT / "resources/licences/parts.json").read_bytes()
    )
    service = Licences(tmp_path / "licences")
    assert [it.name for it in service.all()] == sorted(
        (it.name for it in told), key=licences.key_of
    )
    for part in told:
        read = service.text(service.part(part.name))
        assert [text for _, text in read.texts] == [it.strip() for it in part.texts.values()]
    first = (packed / "parts.json").read_bytes()
    licences.write(list(reversed(told)), packed)
    assert (packed / "parts.json").read_bytes() == first
    assert json.loads(first)
