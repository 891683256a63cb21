"""The language of Hearth's own words, in the window and in the terminal.

The catalogue is gettext's: `resources/translations/hearth_de.po` for translators and the `.mo` file
that is made from it. The layers without Qt mark their sentences with `engines.sentences.N_`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from gettext import GNUTranslations
from typing import Protocol

from app.base.shipped import TRANSLATIONS
from engines.sentences import N_, Sentence

_CODES = {"english": "en", "deutsch": "de"}
_NUMBER = N_("1,234.5")
"""A sample of a number, whose translation has the language's separator and decimal point."""
_AMOUNT = re.compile(r"-?\d[\d,]*(?:\.\d+)? ?(?:TB|GB|MB|kB|B|%|x|s)|\d+\.\d|\d{1,3}(?:,\d{3})+")


class Problem(Protocol):
    """An error, or a stored record of one."""

    @property
    def what(self) -> str:
        """The event, in one short sentence."""
        ...

    @property
    def why(self) -> str:
        """The reason, in plain words."""
        ...

    @property
    def do(self) -> str:
        """The advice for the user."""
        ...


class TranslationCatalogue(Protocol):
    """The translations into one language."""

    def gettext(self, message: str, /) -> str:
        """Return the translation of a text, or the text itself if there is none."""
        ...


_catalogue: TranslationCatalogue | None = None


def language_code(setting: str, system: str) -> str:
    """Return the code of the language to use, such as "en" or "de".

    Args:
        setting: A value of the setting `language`.
        system: The system's language, such as "de_AT"; "" if it is not known.
    """
    if setting in _CODES:
        return _CODES[setting]
    code = re.split(r"[_.@-]", system)[0]
    return code if (TRANSLATIONS / f"hearth_{code}.mo").exists() else "en"


def language_of_terminal(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language that the environment asks for, in gettext's order; "" for none."""
    names = ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")
    return next((value for name in names if (value := environment.get(name))), "").split(":")[0]


def use_language(code: str) -> None:
    """Translate into this language from now on.

    Raises:
        FileNotFoundError: There is no catalogue for it.
    """
    if code == "en":
        use_catalogue(None)
        return
    with (TRANSLATIONS / f"hearth_{code}.mo").open("rb") as file:
        use_catalogue(GNUTranslations(file))


def use_catalogue(catalogue: TranslationCatalogue | None) -> None:
    """Translate with this catalogue from now on; None leaves all texts in English."""
    global _catalogue  # noqa: PLW0603 - one language for the process
    _catalogue = catalogue


def translation_of(text: str) -> str | None:
    """Return the catalogue's translation of exactly this text; None if it has none."""
    if _catalogue is None or not text:
        return None
    translation = _catalogue.gettext(text)
    return translation if translation != text else None


def translated(text: str) -> str:
    """Translate a sentence and the values in it.

    A text without a translation, such as the message of another program, stays as it is. For a text
    that can be the user's, use `translated_if_marked`.
    """
    if _catalogue is None:
        return text
    if not isinstance(text, Sentence):
        return translation_of(text) or text
    template = translation_of(text.template) or text.template
    if not text.values:
        return template
    return template.format_map({name: _value(value) for name, value in text.values.items()})


def translated_if_marked(text: str) -> str:
    """Translate a sentence; a text that is not marked can be the user's and stays as it is."""
    return translated(text) if isinstance(text, Sentence) else text


def in_full(problem: Problem) -> str:
    """Return the translated three parts of an error in one text."""
    return " ".join(translated(part) for part in (problem.what, problem.why, problem.do) if part)


def _value(value: str) -> str:
    """Translate a value of a sentence if it is a sentence or a number itself."""
    return _localised(value) if _AMOUNT.fullmatch(value) else translated_if_marked(value)


def _localised(number: str) -> str:
    """Write an English number as the language does."""
    written = translation_of(_NUMBER) or _NUMBER
    return number.translate({ord(","): written[1], ord("."): written[5]})
