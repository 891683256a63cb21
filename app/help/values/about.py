"""What Hearth is made of, as values."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_COMMIT, _SHOWN = 40, 9
"""Digits of a commit, and those of them that tell it from others."""


@dataclass(frozen=True)
class Part:
    """Something that Hearth uses, and its licence.

    licence: by its SPDX expression where that is known; "" where the part names none.
    source: where its source is had; "" where that is not known.
    needs: the names of the parts that it uses itself.
    texts: the files that hold its licences' words.
    """

    name: str
    version: str
    licence: str
    source: str = ""
    needs: tuple[str, ...] = ()
    texts: tuple[Path, ...] = ()

    @property
    def short_version(self) -> str:
        """The version as it is shown: a commit without most of its digits."""
        is_commit = len(self.version) == _COMMIT and self.version.isalnum()
        return self.version[:_SHOWN] if is_commit else self.version


@dataclass(frozen=True)
class LicenceText:
    """The words of a part's licences.

    notice: what else its users are to be told; "" where that is nothing. texts: each by its name.
    """

    part: Part
    notice: str
    texts: tuple[tuple[str, str], ...]

    @property
    def whole(self) -> str:
        """Join all texts, under their names where there are several."""
        named = len(self.texts) > 1
        return "\n\n".join(f"{name}\n\n{words}" if named else words for name, words in self.texts)


@dataclass(frozen=True)
class About:
    """versions: names with versions, of what decides how Hearth works. parts: by their names."""

    versions: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
