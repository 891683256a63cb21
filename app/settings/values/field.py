"""Describes a setting (type, limits and texts) and reads a value as its type."""

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
        also: Further words by which the search finds it.
        unit: The unit of a number.
        lowest: The meaning of the smallest number, such as “Automatic”.
        multiline: Whether a text can have several lines.
        in_form: Whether it is a row of the settings dialog, or is edited elsewhere.
        if_lost: The safe value, for a file that cannot be read; None if the default is safe.
        ge, gt, le: Limits of a number: at least, more than, at most. None for no limit.
    """

    annotation: Any
    default: Any
    section: str
    title: str
    description: str
    also: str = ""
    unit: str = ""
    lowest: str = ""
    multiline: bool = False
    in_form: bool = True
    if_lost: Any = None
    ge: float | None = None
    gt: float | None = None
    le: float | None = None

    @property
    def without_value(self) -> Any:
        """The value to use if the stored one cannot be read."""
        return self.default if self.if_lost is None else self.if_lost

    def read(self, value: object) -> Any:
        """Read a value as this setting's type; text is accepted for every type.

        Raises ValueError with the reason, as a sentence without its full stop.
        """
        kind = self.annotation
        if get_origin(kind) is Literal:
            return _choice(get_args(kind), value)
        if get_origin(kind) is dict:
            return _words(value)
        if kind is bool:
            return _switch(value)
        if kind in (int, float):
            return self._within(_whole(value) if kind is int else _number(value))
        if not isinstance(value, str) or not _is_text(value):
            raise ValueError(N_("It should be text, without a NUL or half a character"))
        return value

    def _within(self, number: float) -> float:
        if self.ge is not None and number < self.ge:
            raise ValueError(N_("It should be at least {ge}", ge=f"{self.ge:g}"))
        if self.gt is not None and number <= self.gt:
            raise ValueError(N_("It should be more than {gt}", gt=f"{self.gt:g}"))
        if self.le is not None and number > self.le:
            raise ValueError(N_("It should be at most {le}", le=f"{self.le:g}"))
        return number


def _choice(words: tuple[str, ...], value: object) -> str:
    if isinstance(value, str) and value in words:
        return value
    raise ValueError(N_("It should be one of: {choices}", choices=", ".join(words)))


def _switch(value: object) -> bool:
    if isinstance(value, bool):
        return value
    word = str(value).strip().lower()
    if word in _TRUE | _FALSE:
        return word in _TRUE
    raise ValueError(N_("It should be true or false"))


def _whole(value: object) -> int:
    number = _number(value)
    if number != int(number):
        raise ValueError(N_("It should be a whole number"))
    return int(number)


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(N_("It should be a number"))
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise ValueError(N_("It should be a number")) from None
    if not isfinite(number):
        raise ValueError(N_("It should be a number"))
    return number


def _words(value: object) -> dict[str, str]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise ValueError(N_('It should be written like {"name": "text"}')) from None
    if isinstance(value, Mapping) and all(
        isinstance(word, str) and _is_text(word) for pair in value.items() for word in pair
    ):
        return dict(value)
    raise ValueError(N_("It should be a list of names with a text each"))


def _is_text(value: str) -> bool:
    """Return whether a text has neither a NUL nor lone surrogates.

    No file's name can have a NUL. Python uses surrogates for bytes that it cannot decode.
    """
    return "\0" not in value and not any("\ud800" <= it <= "\udfff" for it in value)
