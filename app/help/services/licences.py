"""The licences of Hearth's parts, from its package or the installed packages."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
import sysconfig
from collections.abc import Iterator
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

from app import __version__
from app.base.errors import LicencesUnreadable, PartUnknown
from app.help.values.about import LicenceText, Part
from engines.sentences import N_

_OWN_PACKAGE = "hearth"
_CLASSIFIER = "License :: "
_LONGEST_NAME = 60
"""In characters. A longer "name" of a licence is its text."""
_SPDX = {
    "Apache 2.0": "Apache-2.0",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
}
"""SPDX identifiers for names that packages give their licence, if the name is unambiguous."""
_TEXT = re.compile(r"licen[cs]e|copying|notice|authors|patents", re.IGNORECASE)
_SOURCES = ("source", "source code", "repository", "code", "github", "homepage", "home")
"""The labels of addresses in a package's metadata, the best first."""


class Licences:
    """The parts of Hearth with their licences.

    A packaged Hearth has a list that was made with the package: `packed/parts.json`, beside this
    folder's own `parts.json`. Otherwise the list is made from the installed packages. `parts.json`
    adds what these lack: parts that are not Python packages, the names of licences that a
    package words differently, and texts that a package leaves out.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def all(self) -> tuple[Part, ...]:
        """Return all parts, sorted by name. Raises LicencesUnreadable."""
        packed = self._folder / "packed"
        if (packed / "parts.json").exists():
            parts = [_part(entry, packed) for entry in self._read(packed / "parts.json")]
        else:
            parts = [self._own_part(), *self._installed(), _python(), *self._other_parts()]
        return tuple(sorted(parts, key=lambda part: key_of(part.name)))

    def part(self, name: str) -> Part:
        """Return the part with this name. Raises PartUnknown or LicencesUnreadable."""
        for part in self.all():
            if key_of(part.name) == key_of(name):
                return part
        raise PartUnknown(
            N_("“{name}” is not a part of Hearth.", name=name),
            N_("The list of Hearth’s parts does not have this name."),
            N_("Look its name up in the list of all licences."),
        )

    def text(self, part: Part) -> LicenceText:
        """Read the licences of a part. Raises LicencesUnreadable."""
        texts = part.texts
        above = os.path.commonpath([path.parent for path in texts]) if texts else ""
        named_texts = ((path.relative_to(above).as_posix(), _words(path)) for path in texts)
        return LicenceText(part, notice(part), tuple(named_texts))

    @cached_property
    def _additions(self) -> dict[str, Any]:
        return dict(self._read(self._folder / "parts.json"))

    def _other_parts(self) -> Iterator[Part]:
        for entry in self._additions["besides"]:
            yield _part(entry, self._folder)

    def _own_part(self) -> Part:
        """Return Hearth as a part; its licence is beside `resources` or was installed."""
        own_licence = self._folder.parents[1] / "LICENSE"
        texts = [own_licence] if own_licence.is_file() else _texts_of(_OWN_PACKAGE)
        return Part("Hearth", __version__, "Apache-2.0", texts=tuple(texts))

    def _installed(self) -> Iterator[Part]:
        """Yield the packages that Hearth needs, directly or indirectly.

        If Hearth itself is not installed, as in an environment that is to be packed, yield all
        packages.
        """
        seen = {_OWN_PACKAGE}
        try:
            remaining = list(_requirements(metadata.distribution(_OWN_PACKAGE)))
        except metadata.PackageNotFoundError:
            remaining = [package.name for package in metadata.distributions()]
        while remaining:
            name = remaining.pop()
            if key_of(name) in seen:
                continue
            try:
                package = metadata.distribution(name)
            except metadata.PackageNotFoundError:
                continue  # needed only on another system
            seen.add(key_of(name))
            requirements = list(_requirements(package))
            remaining += requirements
            yield self._part_of(package, requirements)

    def _part_of(self, package: metadata.Distribution, requirements: list[str]) -> Part:
        additions = self._additions["packages"].get(key_of(package.name), {})
        stated = _stated_licence(package.metadata)
        licence = additions["licence"] if stated and additions.get("said") == stated else stated
        requirements = sorted({*requirements, *additions.get("needs", ())}, key=key_of)
        texts = sorted(_texts(package)) or [
            self._folder / name for name in additions.get("texts", ())
        ]
        source = additions.get("source") or _source(package.metadata)
        return Part(
            package.name, package.version, licence, source, tuple(requirements), tuple(texts)
        )

    def _read(self, path: Path) -> Any:
        try:
            return json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise _unreadable(path) from error


def notice(part: Part) -> str:
    """Return the notice for users that the part's licence demands; "" if its text is enough."""
    if "LGPL" not in part.licence:
        return ""
    return N_(
        "The code of {name} is used unchanged under the GNU Lesser General Public License. "
        "It is in separate files, which you may replace with a changed version. "
        "Its source: {source}",
        name=part.name,
        source=part.source,
    )


def key_of(name: str) -> str:
    """Return a package's name in the normalised form of package indexes."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _python() -> Part:
    """Return the running Python as a part; its licence is in one of several places."""
    debian = Path("/usr/share/doc") / f"python{sys.version_info.major}.{sys.version_info.minor}"
    places = [
        Path(sysconfig.get_path("stdlib"), "LICENSE.txt"),
        Path(sys.base_prefix, "LICENSE.txt"),
        debian / "copyright",
    ]
    texts = tuple(path for path in places if path.is_file())[:1]
    source = "https://www.python.org/downloads/source/"
    return Part("Python", platform.python_version(), "Python-2.0", source, texts=texts)


def _part(entry: dict[str, Any], folder: Path) -> Part:
    """Read a part from `parts.json`; `version_of` names the package that contains it."""
    version = entry["version"] if "version" in entry else _version(entry["version_of"])
    texts = tuple(folder / name for name in entry["texts"])
    needs = tuple(entry.get("needs", ()))
    return Part(entry["name"], version, entry["licence"], entry["source"], needs, texts)


def _requirements(package: metadata.Distribution) -> Iterator[str]:
    from packaging.requirements import Requirement

    for text in package.requires or ():
        requirement = Requirement(text)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            yield key_of(requirement.name)


def _stated_licence(package_metadata: metadata.PackageMetadata) -> str:
    """Return the licence that a package states; some state it only among their classifiers."""
    for key in ("License-Expression", "License"):
        licence = str((package_metadata.get_all(key) or [""])[0])
        if licence and len(licence) < _LONGEST_NAME and "\n" not in licence:
            return _SPDX.get(licence, licence)
    classifiers = [
        classifier
        for classifier in package_metadata.get_all("Classifier") or ()
        if classifier.startswith(_CLASSIFIER)
    ]
    licence = classifiers[0].rpartition(" :: ")[2] if classifiers else ""
    return _SPDX.get(licence, licence)


def _texts(package: metadata.Distribution) -> Iterator[Path]:
    """Yield the files with a package's licences, which are beside its metadata."""
    for file in package.files or ():
        folders = [part.lower() for part in file.parts[:-1]]
        is_metadata = bool(folders) and folders[0].endswith(".dist-info")
        if is_metadata and ("licenses" in folders or _TEXT.search(file.name)):
            yield Path(str(package.locate_file(file)))


def _texts_of(name: str) -> list[Path]:
    try:
        return sorted(_texts(metadata.distribution(name)))
    except metadata.PackageNotFoundError:
        return []


def _source(package_metadata: metadata.PackageMetadata) -> str:
    """Return the address of the package's source, or else that of its website."""
    addresses = {}
    for line in package_metadata.get_all("Project-URL") or ():
        name, _, address = str(line).partition(",")
        addresses[name.strip().lower()] = address.strip()
    source = next((addresses[name] for name in _SOURCES if name in addresses), "")
    return source or str((package_metadata.get_all("Home-page") or [""])[0])


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""


def _words(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError as error:
        raise _unreadable(path) from error


def _unreadable(path: Path) -> LicencesUnreadable:
    return LicencesUnreadable(
        N_("The licences cannot be read."),
        N_("“{name}” is missing or damaged.", name=path.name),
        N_("Install Hearth again."),
    )
