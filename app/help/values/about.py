"""Hearth's parts and versions, as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_COMMIT, _SHORT = 40, 9
"""The length of a commit hash, and how many digits of it are shown."""


@dataclass(frozen=True)
class Part:
    """A part that Hearth uses, and its licence.

    Attributes:
        licence: Its SPDX expression if known; "" if the part states none.
        source: Where its source can be found; "" if unknown.
        needs: The names of the parts that it uses itself.
        texts: The files with the texts of its licences.
    """

    name: str
    version: str
    licence: str
    source: str = ""
    needs: tuple[str, ...] = ()
    texts: tuple[Path, ...] = ()

    @property
    def short_version(self) -> str:
        """The version for display: a commit hash is shortened."""
        is_commit = len(self.version) == _COMMIT and self.version.isalnum()
        return self.version[:_SHORT] if is_commit else self.version


@dataclass(frozen=True)
class LicenceText:
    """The texts of a part's licences.

    Attributes:
        notice: A further notice for its users; "" for none.
        texts: The name and content of each file.
    """

    part: Part
    notice: str
    texts: tuple[tuple[str, str], ...]

    @property
    def joined(self) -> str:
        """All texts joined, each below its name if there are several."""
        has_names = len(self.texts) > 1
        return "\n\n".join(f"{name}\n\n{text}" if has_names else text for name, text in self.texts)


@dataclass(frozen=True)
class About:
    """The versions and parts of this installation.

    Attributes:
        versions: The names and versions of the components that matter for a report.
        parts: Sorted by name.
    """

    versions: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
