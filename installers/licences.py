"""Collects and checks the licences of everything in a bundle, and puts them into it.

The list of Hearth's packages comes from Hearth itself, by `hearth about --licences --json` in the
environment that is packed. Everything else is found by its files. Each file must belong to a part,
and each part must have a licence that is compatible with Hearth's, and its text.
"""

from __future__ import annotations

import csv
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any

from installers.build_error import BuildError

ROOT = Path(__file__).resolve().parents[1]
PARTS_FILE = "resources/licences/parts.json"
PACKED = "resources/licences/packed"
"""Where `app/help/services/licences.py` looks for the list of a packaged Hearth."""

COMPATIBLE = frozenset(
    "0BSD Apache-2.0 BSD-2-Clause BSD-3-Clause BSL-1.0 CC0-1.0 CC-BY-4.0 FTL HPND IJG ISC "
    "LicenseRef-Public-Domain MIT MIT-0 MIT-CMU OFL-1.1 PSF-2.0 Python-2.0 Unicode-3.0 "
    "Unicode-DFS-2016 Unlicense X11 X11-distribute-modifications-variant Zlib blessing "
    "bzip2-1.0.6 libpng-2.0 "
    # For these the source must be offered; the notices and addresses do that.
    "LGPL-2.1-only LGPL-2.1-or-later LGPL-3.0-only LGPL-3.0-or-later MPL-2.0".split()
)
"""SPDX identifiers of licences that are compatible with code under Apache-2.0."""
COMPATIBLE_WITH = frozenset(
    {
        "GPL-2.0-or-later WITH Bootloader-exception",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
    }
)
NEEDS_SOURCE = ("GPL", "MPL")

NOT_BUNDLED = frozenset({"altgraph", "macholib", "pefile", "pip", "pyinstaller-hooks-contrib",
                       "setuptools", "wheel"})  # fmt: skip
"""Packages of the environment from which nothing goes into a bundle."""


@dataclass(frozen=True)
class Library:
    """A library of the system that PyInstaller puts beside Python.

    The text of its licence comes from `dpkg`, if that knows the library. Otherwise it is in the
    licence of Python, whose builds for Windows and macOS include these libraries and their
    licences.

    Attributes:
        names: Patterns of its files' names.
    """

    name: str
    licence: str
    source: str
    names: tuple[str, ...]


LIBRARIES = (
    Library("bzip2", "bzip2-1.0.6", "https://sourceware.org/bzip2/", ("libbz2.*",)),
    Library("Expat", "MIT", "https://github.com/libexpat/libexpat", ("libexpat.*",)),
    Library(
        "GCC's OpenMP",
        "GPL-3.0-or-later WITH GCC-exception-3.1",
        "https://gcc.gnu.org",
        ("libgomp.*", "libgomp-*"),
    ),
    Library("GNU readline", "GPL-3.0-or-later", "https://tiswww.case.edu/php/chet/readline/",
            ("libreadline.*",)),
    Library("libffi", "MIT", "https://github.com/libffi/libffi", ("libffi.*", "libffi-*")),
    Library("libuuid", "BSD-3-Clause", "https://github.com/util-linux/util-linux", ("libuuid.*",)),
    Library("libxcrypt", "LGPL-2.1-or-later", "https://github.com/besser82/libxcrypt",
            ("libcrypt.*",)),
    Library(
        "libxkbcommon", "MIT", "https://github.com/xkbcommon/libxkbcommon", ("libxkbcommon*",)
    ),
    Library(
        "ncurses",
        "X11-distribute-modifications-variant",
        "https://invisible-island.net/ncurses/",
        ("libncurses*", "libtinfo*", "libpanel*"),
    ),
    Library("OpenSSL", "Apache-2.0", "https://github.com/openssl/openssl",
            ("libssl.*", "libssl-*", "libcrypto.*", "libcrypto-*")),
    Library("SQLite", "blessing", "https://www.sqlite.org", ("libsqlite3.*", "sqlite3.dll")),
    Library("XCB", "X11", "https://gitlab.freedesktop.org/xorg/lib", ("libxcb-*",)),
    Library("XZ Utils", "LicenseRef-Public-Domain", "https://github.com/tukaani-project/xz",
            ("liblzma.*",)),
    Library("zlib", "Zlib", "https://github.com/madler/zlib", ("libz.*", "zlib1.dll")),
    Library("Zstandard", "BSD-3-Clause OR GPL-2.0-only", "https://github.com/facebook/zstd",
            ("libzstd.*",)),
)  # fmt: skip

_OURS = re.compile(r"LICENSE|(?:app|engines|resources)/.*")
_OF_PYTHON = re.compile(
    r"_sysconfigdata_[^/]*|base_library\.zip|lib-dynload/.*|libpython3[^/]*|python3[^/]*(?:/.*)?"
    r"|Python(?:\.framework/.*)?|[^/]+\.pyd"
    r"|(?:api-ms-win-[^/]*|ucrtbase|(?:concrt|msvcp|vcruntime)140[^/]*)\.dll",
    re.IGNORECASE,  # Windows writes some of these names in capitals
)
_OF_PYINSTALLER = re.compile(r"_pyi_rth_utils/.*|pyi[^/]*\.pyc")
"""Names of files that no package lists."""


@dataclass(frozen=True)
class Part:
    """A part of a bundle.

    Attributes:
        texts: The texts of its licences, by name.
        version, purl: "" if unknown.
    """

    name: str
    version: str
    licence: str
    source: str
    needs: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    purl: str = ""


class LicenceError(BuildError):
    """The reason why a bundle may not be distributed: what is wrong, why, and what to do."""

    def __init__(self, what: str, why: str, do: str) -> None:
        super().__init__(f"{what} {why} {do}")


def pack(bundle: Path, python: Path) -> list[Part]:
    """Put the licences of everything in a bundle into it, and return the parts.

    Raises LicenceError.

    Args:
        python: The Python of the environment that was packed.
    """
    folder = own_folder(bundle)
    own_parts = [part for part in parts_of_hearth(python) if is_bundled(part, folder)]
    if unlisted := packages_in(folder) - {key_of(part.name) for part in own_parts}:
        raise LicenceError(
            f"Hearth does not list {', '.join(sorted(unlisted))}.",
            "The bundle contains it, so Hearth has to show its licence.",
            "Make sure that it is installed in the environment that is packed, and build again.",
        )
    parts = [*own_parts, *libraries_in(bundle)]
    require_compatible(parts)
    if unknown := sorted(unknown_files(bundle)):
        raise LicenceError(
            f"The bundle has unknown files: {', '.join(unknown[:10])}"
            f"{' …' if unknown[10:] else ''}.",
            "A file of no known part has no known licence.",
            "Leave them out in installers/hearth.spec, or add their library to LIBRARIES in "
            "installers/licences.py.",
        )
    write(parts, folder / PACKED)
    return parts


def own_folder(bundle: Path) -> Path:
    """Return the folder of a bundle that contains Hearth's own files."""
    path = next(
        (path for path in sorted(bundle.rglob("parts.json")) if path.match(f"*/{PARTS_FILE}")), None
    )
    if path is None:
        raise LicenceError(
            f"The bundle in {bundle} has no {PARTS_FILE}.",
            "Without it the parts of Hearth are unknown.",
            "Build the bundle again.",
        )
    return path.parents[2]


def parts_of_hearth(python: Path) -> list[Part]:
    """Return the parts that Hearth lists in the environment that is packed."""
    with tempfile.TemporaryDirectory() as empty_folder:
        result = subprocess.run(
            [str(python), "-P", "-m", "app", "about", "--licences", "--json"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "HEARTH_DATA_DIR": empty_folder},
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
    if result.returncode:
        raise LicenceError(
            "Hearth could not list its parts.",
            result.stderr.strip(),
            "Correct that, and build again.",
        )
    parts = [_part_of(entry) for entry in json.loads(result.stdout)]
    check_vendored(parts)
    return [part for part in parts if key_of(part.name) not in NOT_BUNDLED]


def is_bundled(part: Part, folder: Path) -> bool:
    """Return whether a bundle contains a part; some packages are left out."""
    other_parts = json.loads((ROOT / PARTS_FILE).read_text(encoding="utf-8"))["besides"]
    names = {"hearth", "pyinstaller", "python", *(key_of(entry["name"]) for entry in other_parts)}
    return key_of(part.name) in names | packages_in(folder)


def packages_in(folder: Path) -> set[str]:
    """Return the names of a bundle's packages, according to their metadata."""
    return {
        key_of(metadata_folder.name.split("-")[0])
        for metadata_folder in folder.glob("*-*.dist-info")
    }


def check_vendored(parts: Iterable[Part]) -> None:
    """Check that the code inside llama.cpp was reviewed for this version. Raises LicenceError."""
    packages = json.loads((ROOT / PARTS_FILE).read_text(encoding="utf-8"))["packages"]
    for part in parts:
        reviewed = packages.get(key_of(part.name), {}).get("read_for", part.version)
        if reviewed != part.version:
            raise LicenceError(
                f"{part.name} has the version {part.version}.",
                f"The code inside it was reviewed for {reviewed}.",
                f"Review its vendored code again, and update {PARTS_FILE}.",
            )


def require_compatible(parts: Iterable[Part]) -> None:
    """Check that each part may be distributed with Hearth. Raises LicenceError for the first."""
    for part in parts:
        if not is_compatible(part.licence):
            raise LicenceError(
                f"{part.name} {part.version} is under “{part.licence or 'no named licence'}”.",
                "That licence is not known to be compatible with Hearth's Apache-2.0.",
                f"Leave it out. If the licence is compatible, add it to {PARTS_FILE}, or to "
                "COMPATIBLE in installers/licences.py.",
            )
        if not any(text.strip() for text in part.texts.values()):
            raise LicenceError(
                f"{part.name} {part.version} comes without the text of its licence.",
                f"“{part.licence}” demands its text with every copy.",
                f"Put the text into resources/licences, and name it in {PARTS_FILE}.",
            )
        if any(licence in part.licence for licence in NEEDS_SOURCE) and not part.source:
            raise LicenceError(
                f"The address of the source of {part.name} {part.version} is missing.",
                f"“{part.licence}” demands that users can find it.",
                f"Add it to {PARTS_FILE}.",
            )


def is_compatible(licence: str) -> bool:
    """Return whether an SPDX expression allows a part to be distributed with Hearth."""
    words = re.findall(r"[()]|[^\s()]+", licence)
    if not words:
        return False
    try:
        value, remaining = _any_of(words)
    except IndexError:
        return False
    return value and not remaining


def _any_of(words: Sequence[str]) -> tuple[bool, Sequence[str]]:
    value, words = _all_of(words)
    while words[:1] == ["OR"]:
        next_value, words = _all_of(words[1:])
        value = value or next_value
    return value, words


def _all_of(words: Sequence[str]) -> tuple[bool, Sequence[str]]:
    value, words = _single(words)
    while words[:1] == ["AND"]:
        next_value, words = _single(words[1:])
        value = value and next_value
    return value, words


def _single(words: Sequence[str]) -> tuple[bool, Sequence[str]]:
    if words[0] == "(":
        value, remaining = _any_of(words[1:])
        return value and remaining[0] == ")", remaining[1:]
    if words[1:2] == ["WITH"]:
        return " ".join(words[:3]) in COMPATIBLE_WITH, words[3:]
    return words[0] in COMPATIBLE, words[1:]


def libraries_in(bundle: Path) -> Iterator[Part]:
    """Yield the system's libraries in a bundle, each with its version and licence."""
    loose = [name.name for name in _loose_files(bundle)]
    names_by_library = {
        library: [name for name in loose if _is_of(name, library)] for library in LIBRARIES
    }
    owners = _debian_packages([name for names in names_by_library.values() for name in names])
    for library, names in names_by_library.items():
        if names:
            yield _library(library, sorted({owners[name] for name in names if name in owners}))


def _is_of(name: str, library: Library) -> bool:
    return any(fnmatch.fnmatch(name, pattern) for pattern in library.names)


def _library(library: Library, packages: Sequence[str]) -> Part:
    """Return a library as a part, with the licence from these Debian packages, if any."""
    part = Part(library.name, "", library.licence, library.source)
    texts: dict[str, str] = {}
    for package in packages:
        path = Path("/usr/share/doc") / package / "copyright"
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else ""
        if text and text not in texts.values():
            texts[f"{package}/copyright"] = text
    if not texts:
        return replace(part, texts={"LICENSE.txt": _licence_of_python()})
    package = next(iter(texts)).partition("/")[0]
    version = _output_of("dpkg-query", "-W", "-f=${Version}\n", package).partition("\n")[0]
    quoted = version.replace("+", "%2B").replace(":", "%3A")
    return replace(part, version=version, texts=texts, purl=f"pkg:deb/debian/{package}@{quoted}")


def _debian_packages(files: Sequence[str]) -> dict[str, str]:
    """Return the packages of this system that contain these files; none without dpkg."""
    output = _output_of("dpkg-query", "-S", *(f"*/{name}" for name in files)) if files else ""
    packages_by_file: dict[str, str] = {}
    for line in output.splitlines():
        packages, _, path = line.partition(": ")
        packages_by_file.setdefault(Path(path).name, re.split(r"[:,]", packages)[0])
    return packages_by_file


def _licence_of_python() -> str:
    import sysconfig

    paths = (
        Path(sysconfig.get_path("stdlib"), "LICENSE.txt"),
        Path(sys.base_prefix, "LICENSE.txt"),
    )
    file = next((path for path in paths if path.is_file()), None)
    return file.read_text(encoding="utf-8", errors="replace") if file else ""


def _output_of(*command: str) -> str:
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return result.stdout.strip()


def unknown_files(bundle: Path) -> Iterator[str]:
    """Yield the files of a bundle that belong to no part."""
    folder = own_folder(bundle)
    for path in _loose_files(bundle):
        name = path.relative_to(folder).as_posix()
        is_known = any(pattern.fullmatch(name) for pattern in (_OURS, _OF_PYTHON, _OF_PYINSTALLER))
        of_library = any(_is_of(path.name, pattern) for pattern in LIBRARIES)
        if not (is_known or of_library or _is_of_python(name)):
            yield name


def _is_of_python(name: str) -> bool:
    """Return whether a file is a compiled module of Python's standard library."""
    module = PurePosixPath(name)
    return module.suffix == ".pyc" and module.parts[0].split(".")[0] in sys.stdlib_module_names


def _loose_files(bundle: Path) -> Iterator[Path]:
    """Yield the files that no Python package lists, apart from the program itself."""
    folder = own_folder(bundle)
    packaged = set(_files_of_packages(folder))
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        is_packaged = name.as_posix() in packaged or name.parts[0].endswith(".dist-info")
        if path.is_file() and not path.is_symlink() and not is_packaged:
            yield path


def _files_of_packages(folder: Path) -> Iterator[str]:
    """Yield the names of files that packages list as their own.

    In a bundle, scripts are in `bin`, and modules can be there only in compiled form. The system's
    libraries in Hearth's own wheel of llama.cpp do not count as llama.cpp's.
    """
    for record in folder.glob("*.dist-info/RECORD"):
        with record.open(encoding="utf-8", newline="") as file:
            for row in csv.reader(file):
                path = PurePosixPath(row[0])
                if path.parts[0] == "llama_cpp" and any(
                    _is_of(path.name, library) for library in LIBRARIES
                ):
                    continue
                is_script = path.parts[:1] == ("..",) and path.parent.name in {"bin", "Scripts"}
                yield f"bin/{path.name}" if is_script else path.as_posix()
                if path.suffix == ".py":
                    yield path.with_suffix(".pyc").as_posix()


def write(parts: Sequence[Part], folder: Path) -> None:
    """Write the list of the parts, and a folder with the texts of each."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    entries = []
    for part in sorted(parts, key=lambda part: key_of(part.name)):
        names = []
        for name, text in part.texts.items():
            path = folder / slug(part.name) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", encoding="utf-8", newline="\n")
            names.append(path.relative_to(folder).as_posix())
        entries.append(
            {
                "name": part.name,
                "version": part.version,
                "licence": part.licence,
                "source": part.source,
                "needs": list(part.needs),
                "texts": names,
            }
        )
    words = json.dumps(entries, ensure_ascii=False, indent=1)
    (folder / "parts.json").write_text(words + "\n", encoding="utf-8", newline="\n")


def key_of(name: str) -> str:
    """Return a name in the normalised form that package indexes use."""
    return re.sub(r"[-_.]+", "-", name).lower()


def slug(name: str) -> str:
    """Return a name in a form that suits a file or an address."""
    return re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-")


def _part_of(entry: Mapping[str, Any]) -> Part:
    return Part(
        entry["name"],
        entry["version"],
        entry["licence"],
        entry["source"],
        tuple(entry["needs"]),
        dict(entry["texts"]),
    )
