"""A setting's type, limits and texts, and reading a value as its type."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, get_args, get_origin

from engines.sentences import N_

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}


@dataclass(frozen=True)
class SettingField:
    """The type, limits and texts of a setting.

    Attributes:
        annotation: A Literal, bool, int, float, str or dict[str, str].
        keywords: More words by which the search in the dialog finds it.
        unit: The unit of a number.
        lowest_label: The meaning of the smallest number, such as “Automatic”.
        multiline: Whether a text can have several lines.
        in_form: Whether it is a row of the settings dialog, or is edited elsewhere.
        common: Whether most people need it; the dialog shows the others under “All options”.
        engine: The engine without which the setting has no effect; "" if it has one in any case.
        safe_value: The value for a file that cannot be read; None if the default is safe.
        ge, gt, le: Limits of a number: at least, more than, at most. None for no limit.
    """

    annotation: Any
    default: Any
    section: str
    title: str
    description: str
    keywords: str = ""
    unit: str = ""
    lowest_label: str = ""
    multiline: bool = False
    in_form: bool = True
    common: bool = False
    engine: str = ""
    safe_value: Any = None
    ge: float | None = None
    gt: float | None = None
    le: float | None = None

    @property
    def fallback(self) -> Any:
        """The value to use if the stored one cannot be read."""
        return self.default if self.safe_value is None else self.safe_value

    def read(self, value: object) -> Any:
        """Read a value as this setting's type; text is accepted for every type.

        Raises ValueError with the reason, as a sentence without its full stop.
        """
        kind = self.annotation
        if get_origin(kind) is Literal:
            return _read_choice(get_args(kind), value)
        if get_origin(kind) is dict:
            return _read_texts(value)
        if kind is bool:
            return _read_bool(value)
        if kind in (int, float):
            return self._require_limits(_read_whole(value) if kind is int else _read_number(value))
        if not isinstance(value, str) or not _is_text(value):
            raise ValueError(N_("It should be text without NUL or incomplete characters"))
        return value

    def _require_limits(self, number: float) -> float:
        """Return a number. Raises ValueError if it is outside the limits."""
        if self.ge is not None and number < self.ge:
            raise ValueError(N_("It should be at least {limit}", limit=f"{self.ge:g}"))
        if self.gt is not None and number <= self.gt:
            raise ValueError(N_("It should be more than {limit}", limit=f"{self.gt:g}"))
        if self.le is not None and number > self.le:
            raise ValueError(N_("It should be at most {limit}", limit=f"{self.le:g}"))
        return number


def _read_choice(choices: tuple[str, ...], value: object) -> str:
    if isinstance(value, str) and value in choices:
        return value
    raise ValueError(N_("It should be one of: {choices}", choices=", ".join(choices)))


def _read_bool(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise ValueError(N_("It should be true or false"))


def _read_whole(value: object) -> int:
    number = _read_number(value)
    if number != int(number):
        raise ValueError(N_("It should be a whole number"))
    return int(number)


def _read_number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(N_("It should be a number"))
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(N_("It should be a number")) from None
    if not isfinite(number):
        raise ValueError(N_("It should be a number"))
    return number


def _read_texts(value: object) -> dict[str, str]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError(N_('It should be written like {"name": "text"}')) from None
    if isinstance(value, Mapping) and all(
        isinstance(text, str) and _is_text(text) for pair in value.items() for text in pair
    ):
        return dict(value)
    raise ValueError(N_("It should be a list of names, each with a text"))


def _is_text(value: str) -> bool:
    """Return whether a text has neither a NUL nor lone surrogates.

    No file's name can have a NUL. Python uses surrogates for bytes that it cannot decode.
    """
    return "\0" not in value and not any("\ud800" <= character <= "\udfff" for character in value)
