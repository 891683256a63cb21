"""The pieces of a model file that was cut for a download, as `split`, 7-Zip or Hugging Face do.

They are not models, but they are not damaged either: joined in order, they are one. A model that
llama.cpp itself has divided into files (`-00001-of-00003.gguf`) needs no joining.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engines.errors import NotAModel
from engines.sentences import N_

_WORD: Final = r"(?:part|split|chunk|piece)"
_NAMES: Final = tuple(
    re.compile(rf"(?P<whole>.+\.gguf){ending}", re.IGNORECASE)
    for ending in (
        rf"[-_.]{_WORD}?[-_.]?(?P<number>\d{{1,5}})[-_.]?of[-_.]?(?P<count>\d{{1,5}})",
        rf"[-_.]{_WORD}[-_.]?(?P<number>\d{{1,5}})",
        r"\.(?P<number>\d{2,3})",
        rf"[-_.]{_WORD}[-_.]?(?P<number>[a-z]{{1,2}})",
        r"[-_.]?(?P<number>[a-z]{2})",
    )
) + tuple(
    re.compile(rf"(?P<whole>.+?)[-_.]{_WORD}[-_.]?{ending}\.gguf", re.IGNORECASE)
    for ending in (
        r"(?P<number>\d{1,5})[-_.]?of[-_.]?(?P<count>\d{1,5})",
        r"(?P<number>\d{1,5})",
    )
)
_MOST: Final = 1000
"""The most pieces of a file; a higher number is a date or something similar."""

_MOST_NAMED: Final = 6


@dataclass(frozen=True)
class Pieces:
    """The pieces of one file that are found beside one of them.

    Attributes:
        file_name: Name of the file that they form.
        number: Number of the piece in question, from 1.
        existing: Names of the existing pieces, in order.
        missing: Names of the missing pieces.
        is_count_known: Whether their names say how many there are; otherwise there may be more.
    """

    file_name: str
    number: int
    existing: tuple[str, ...]
    missing: tuple[str, ...]
    is_count_known: bool

    @property
    def count(self) -> int:
        """Number of pieces that exist or are known to be missing."""
        return len(self.existing) + len(self.missing)

    @property
    def why(self) -> str:
        """A sentence on which piece it is, and which pieces are missing."""
        if self.missing and self.is_count_known:
            return N_(
                "It is piece {number} of {count} of a file that was cut. Not beside it: {missing}.",
                number=self.number,
                count=self.count,
                missing=listed(self.missing),
            )
        if self.missing:
            return N_(
                "It is piece {number} of a file that was cut. Not beside it: {missing}.",
                number=self.number,
                missing=listed(self.missing),
            )
        if self.count == 1:
            return N_("It is a piece of a file that was cut, and no other piece is beside it.")
        return N_(
            "It is piece {number} of a file that was cut; {count} pieces are here.",
            number=self.number,
            count=self.count,
        )

    @property
    def advice(self) -> str:
        """A sentence on how to join the pieces."""
        if self.missing:
            missing = listed(self.missing)
            return N_(
                "Download {missing} into the same folder, then join all pieces in their order.",
                missing=missing,
            )
        if self.count == 1:
            return N_(
                "Download the other pieces into the same folder, then join them in their order."
            )
        return N_(
            "Join the pieces, then add {whole}: {command}",
            whole=self.file_name,
            command=self.command,
        )

    @property
    def command(self) -> str:
        """A shell command that joins the pieces in order."""
        if sys.platform == "win32":
            joined = "+".join(f'"{name}"' for name in self.existing)
            return f'copy /b {joined} "{self.file_name}"'
        return f"cat {shlex.join(self.existing)} > {shlex.quote(self.file_name)}"


def pieces_of(path: Path, neighbours: Iterable[str] | None = None) -> Pieces | None:
    """Return the pieces that a file belongs to, by its name; None for any other file.

    Args:
        path: The file.
        neighbours: Names of the files in its folder; None lists the folder.
    """
    if not any(pattern.fullmatch(path.name) for pattern in _NAMES):
        return None
    if neighbours is None:
        try:
            neighbours = [path.name for path in path.parent.iterdir()]
        except OSError:
            neighbours = [path.name]
    names = {path.name, *neighbours}
    return next(
        filter(None, (_match_pieces(pattern, path.name, names) for pattern in _NAMES)), None
    )


def is_named_like_a_model(path: Path) -> bool:
    """Return whether a file is named like a model or a piece of one; pieces are refused later."""
    return path.suffix.lower() == ".gguf" or pieces_of(path, ()) is not None


def refused_piece(path: Path) -> NotAModel | None:
    """Make the error for a piece of a file; return None for any other file."""
    pieces = pieces_of(path)
    if pieces is None:
        return None
    return NotAModel(
        N_("“{name}” is one piece of a model.", name=path.name), pieces.why, pieces.advice
    )


def _match_pieces(pattern: re.Pattern[str], name: str, names: Iterable[str]) -> Pieces | None:
    own_match = pattern.fullmatch(name)
    if own_match is None:
        return None
    matches = filter(None, map(pattern.fullmatch, names))
    existing = {
        _number(piece): piece.string
        for piece in matches
        if _surroundings(piece) == _surroundings(own_match)
    }
    number, by_letters = _number(own_match), own_match["number"].isalpha()
    if by_letters and len(existing) == 1 and not own_match["number"].lower().startswith("a"):
        return None  # an ending such as .bk, with no piece before or after it
    first = 0 if by_letters or 0 in existing else 1
    last = max(existing)
    if not by_letters and own_match.groupdict().get("count"):
        last = max(last, int(own_match["count"]) - 1 + first)
    if last > _MOST:
        return None
    missing = tuple(
        _piece_name(own_match, number)
        for number in range(first, last + 1)
        if number not in existing
    )
    in_order = tuple(existing[number] for number in sorted(existing))
    file_name = (
        own_match["whole"]
        if own_match["whole"].lower().endswith(".gguf")
        else f"{own_match['whole']}.gguf"
    )
    is_count_known = bool(own_match.groupdict().get("count"))
    return Pieces(file_name, number + 1 - first, in_order, missing, is_count_known)


def _surroundings(match: re.Match[str]) -> tuple[str, str, int]:
    """Return the text around the number in a name, and the length of a number in letters."""
    start, end = match.span("number")
    length = end - start if match["number"].isalpha() else 0
    return match.string[:start], match.string[end:], length


def _number(match: re.Match[str]) -> int:
    """Return the number in a name; letters count aa, ab, … ba."""
    digits = match["number"].lower()
    if digits.isdigit():
        return int(digits)
    value = 0
    for letter in digits:
        value = value * 26 + ord(letter) - ord("a")
    return value


def _piece_name(match: re.Match[str], number: int) -> str:
    """Return the name of the piece with this number."""
    digits = match["number"]
    if digits.isdigit():
        replacement = f"{number:0{len(digits) if digits.startswith('0') else 1}}"
    else:
        first = chr(ord("A" if digits.isupper() else "a"))
        letters = [number // 26**place % 26 for place in reversed(range(len(digits)))]
        replacement = "".join(chr(ord(first) + number) for number in letters)
    start, end = match.span("number")
    return f"{match.string[:start]}{replacement}{match.string[end:]}"


def listed(names: tuple[str, ...]) -> str:
    """Return names as a list in a sentence: all of a few, the first of many."""
    return ", ".join((*names[:_MOST_NAMED], *(("…",) if len(names) > _MOST_NAMED else ())))
