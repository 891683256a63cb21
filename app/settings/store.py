"""The settings file, which a person can read and edit."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, Final

from app.base.errors import SettingsInvalid
from app.base.folder import as_user_errors, read_file, write_atomically
from app.settings.values.fields import RENAMED, Settings
from engines.sentences import N_, joined

_MOST_BYTES: Final = 4_000_000
"""More than any settings need; a system prompt can be long."""

_MOST_LISTED: Final = 3
_MOST_CHARACTERS: Final = 80


@dataclass(frozen=True)
class LoadedSettings:
    """The contents of the settings file.

    Attributes:
        unknown: Settings of another version of Hearth, which are kept.
        faults: Errors in the file, to be shown; they are not raised.
        is_damaged: Whether the file or a value in it is invalid, so that writing would lose
            something.
    """

    settings: Settings
    unknown: Mapping[str, object]
    faults: tuple[SettingsInvalid, ...]
    is_damaged: bool


class SettingsFile:
    """The file of the settings that differ from the defaults, replaced as a whole when written.

    A damaged file never keeps Hearth from starting. Values that can be read apply; the others get
    their default or, where it matters, a safe value. Names that only another version knows are
    kept.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> Settings:
        """Read the settings; return the defaults if there is no file."""
        return self.load().settings

    def load(self) -> LoadedSettings:
        """Read the settings, the unknown names and the faults of the file."""
        try:
            values, duplicates = _values(self._path)
            parsed = Settings.from_values(values)
            _text(parsed.unknown)  # a value nested too deeply to be kept is damage
        except FileNotFoundError:
            return LoadedSettings(Settings(), {}, (), is_damaged=False)
        except (OSError, ValueError, RecursionError) as error:
            return LoadedSettings(Settings.safe(), {}, (self._unreadable(error),), is_damaged=True)
        invalid = [
            *parsed.faults,
            *(N_("{name}: It occurs twice", name=name) for name in duplicates),
        ]
        faults = []
        if invalid:
            faults.append(self._invalid_values(invalid))
        if parsed.unknown:
            faults.append(self._unknown_names(list(parsed.unknown)))
        return LoadedSettings(
            parsed.settings, parsed.unknown, tuple(faults), is_damaged=bool(invalid)
        )

    def write(self, settings: Settings) -> None:
        """Write the settings. Move a damaged file aside first, under another name.

        After an error the old file is still in place. Raises DataFolderReadOnly or DiskFull.
        """
        loaded = self.load()
        text = _text({**loaded.unknown, **settings.changes()})
        if not loaded.is_damaged:
            write_atomically(self._path, text)
            return
        backup = self._free_path()
        with as_user_errors(self._path.parent):
            self._path.rename(backup)
        try:
            write_atomically(self._path, text)
        except BaseException:
            backup.rename(self._path)
            raise

    def _free_path(self) -> Path:
        """Return a path for a damaged file at which there is none yet."""
        names = (f"{self._path.name}.damaged{f'-{n}' if n > 1 else ''}" for n in count(1))
        return next(path for path in map(self._path.with_name, names) if not os.path.lexists(path))

    def _unreadable(self, error: Exception) -> SettingsInvalid:
        """Make the error for a file that cannot be read."""
        return SettingsInvalid(
            N_("The settings file cannot be read."),
            N_("{path}: {reason}", path=self._path, reason=_reason(error)),
            N_(
                "The default settings apply, and Hearth stays offline. Repair the file, or "
                "change a setting: then a new file is written, and the old one is kept."
            ),
        )

    def _invalid_values(self, faults: Sequence[str]) -> SettingsInvalid:
        """Make the error for a file with invalid values."""
        return SettingsInvalid(
            N_("A part of the settings file cannot be used."),
            N_("{path}: {faults}.", path=self._path, faults=_first_few(faults)),
            N_(
                "The defaults apply there. Repair the file, or change a setting: then a new "
                "file is written, and the old one is kept."
            ),
        )

    def _unknown_names(self, names: Sequence[str]) -> SettingsInvalid:
        """Make the error for a file with names of another version."""
        return SettingsInvalid(
            N_("The settings file has names that this version of Hearth does not know."),
            N_("{path}: {names}.", path=self._path, names=_first_few(names)),
            N_("They are kept but have no effect. If you wrote them, check their spelling."),
        )


def _values(path: Path) -> tuple[dict[str, Any], list[str]]:
    """Return the values by name, and the names that occur twice.

    Raises OSError, ValueError or RecursionError.
    """
    text = read_file(path, _MOST_BYTES).decode("utf-8-sig")
    if not text.strip():
        raise ValueError(N_("it is empty"))
    duplicates: list[str] = []

    def collect(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values_by_name: dict[str, Any] = {}
        for name, value in pairs:
            if name in values_by_name:
                duplicates.append(name)
            values_by_name[name] = value
        return values_by_name

    values: Any = json.loads(text, object_pairs_hook=collect, parse_int=_parse_whole)
    if not isinstance(values, dict):
        raise ValueError(N_("it does not contain a list of names and values"))
    return {RENAMED.get(str(name), str(name)): value for name, value in values.items()}, duplicates


def _parse_whole(digits: str) -> float:
    """Read a whole number; make one of thousands of digits, which Python refuses, a float."""
    return int(digits) if len(digits) <= _MOST_CHARACTERS else float(digits)


def _text(values: Mapping[str, object]) -> str:
    """Return the values as JSON, with lone surrogates escaped because UTF-8 cannot encode them."""
    text = json.dumps(values, indent=2, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "backslashreplace").decode()


def _first_few(words: Sequence[str]) -> str:
    """List the first few words, each cut to a readable length."""
    excerpts = [
        word if len(word) <= _MOST_CHARACTERS else f"{word[:_MOST_CHARACTERS]} …"
        for word in words[:_MOST_LISTED]
    ]
    hidden = len(words) - len(excerpts)
    return joined("; ", [*excerpts, N_("and {count} more", count=hidden) if hidden else ""])


def _reason(error: Exception) -> str:
    """Return the reason for an error as a sentence."""
    if isinstance(error, OSError):
        return N_("the system says: {strerror}.", strerror=error.strerror or error)
    if isinstance(error, RecursionError):
        return N_("it is nested too deeply.")
    if isinstance(error, UnicodeDecodeError):
        return N_("it is not UTF-8 text.")
    return N_("{error}.", error=error.args[0] if error.args else type(error).__name__)
