"""The language of the window: its own texts, Qt's, and those of the layers below."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

if TYPE_CHECKING:
    from app.base.templates import Templates

CONTEXT = "Hearth"
"""The context of all translations: the same words mean the same everywhere."""

FOLDER = Path(__file__).resolve().parents[3] / "resources" / "translations"

_TRANSLATORS = "translators"
_CODES = {"english": "en", "deutsch": "de"}
_SENTENCE = r"(?<=[.!?]) (?=[A-ZÄÖÜ“0-9])"
_AMOUNT = r"-?\d[\d,]*(?:\.\d+)? ?(?:GB|MB|kB|B|%|x|s)|\d+\.\d|\d{1,3}(?:,\d{3})+"


class Problem(Protocol):
    """An error, or a stored record of one."""

    @property
    def what(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def do(self) -> str: ...


class Translator(QTranslator):
    """A translator that looks up every text in Hearth's one context, whichever class asks."""

    def translate(
        self, _context: str, text: str, disambiguation: str | None = None, n: int = -1
    ) -> str | None:
        # "" would count as a translation; None passes the text on to the next translator.
        return super().translate(CONTEXT, text, disambiguation or "", n) or None


def code_of(wish: str, system: QLocale | None = None) -> str:
    """Return the code of the language to use, such as "en" or "de".

    Args:
        wish: A value of the setting `language`.
        system: The system's locale; None asks the system.
    """
    if wish in _CODES:
        return _CODES[wish]
    name = (system or QLocale.system()).name().partition("_")[0]
    return name if (FOLDER / f"hearth_{name}.qm").exists() else "en"


def speak(app: QCoreApplication, wish: str) -> None:
    """Use a language for all texts made from now on; texts that are already shown do not change.

    Args:
        app: The application.
        wish: A value of the setting `language`.

    Raises:
        FileNotFoundError: Hearth's translation into this language is missing.
    """
    # Listing the application's children would make PySide create a Python type for each class.
    for former in app.property(_TRANSLATORS) or ():
        app.removeTranslator(former)
        former.setParent(None)
    app.setProperty(_TRANSLATORS, [])
    code = code_of(wish)
    system = QLocale.system()
    same = system.name().partition("_")[0] == code
    QLocale.setDefault(system if same else QLocale(code))
    if code == "en":
        return
    qt = QTranslator(app)
    if qt.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(qt)
    own = Translator(app)
    if not own.load(str(FOLDER / f"hearth_{code}.qm")):
        raise FileNotFoundError(f"hearth_{code}.qm is not in {FOLDER}")
    app.installTranslator(own)
    app.setProperty(_TRANSLATORS, [qt, own])


def translated(text: str) -> str:
    """Translate a text that comes from a layer without Qt.

    The text is looked up by its template. If there are several sentences, each is looked up on
    its own. Unknown text, such as the message of another program, stays as it is.
    """
    if not text or QLocale().language() in {QLocale.Language.English, QLocale.Language.C}:
        return text
    direct = _look_up(text)
    if direct is not None:
        return direct
    sentences = re.split(_SENTENCE, text)
    apart = [_known(sentence) for sentence in sentences]
    if None not in apart:
        return " ".join(str(sentence) for sentence in apart)
    whole = _filled(text)
    if whole is not None:
        return whole
    return " ".join(new or old for new, old in zip(apart, sentences, strict=True))


def in_full(problem: Problem) -> str:
    """Return the translated three parts of an error in one text."""
    return " ".join(translated(part) for part in (problem.what, problem.why, problem.do) if part)


def _known(text: str) -> str | None:
    direct = _look_up(text)
    return direct if direct is not None else _filled(text)


def _filled(text: str) -> str | None:
    """Translate the text's template and fill in the values; None if the template is unknown."""
    found = sentence_templates().match(text)
    if found is None:
        return None
    template, values = found
    translated = _look_up(template)
    if translated is None:
        return None
    return translated.format(*(_value(value) for value in values))


def _value(value: str) -> str:
    """Translate a value of a template: a number or a text. A single word is a name and stays."""
    if re.fullmatch(_AMOUNT, value):
        point, group = QLocale().decimalPoint(), QLocale().groupSeparator()
        return value.translate({ord("."): point, ord(","): group})
    if " " not in value:
        return value
    said = translated(value)
    if said != value:
        return said
    begun = value[:1].upper() + value[1:]  # inside another sentence, it begins with a small letter
    whole = translated(begun)
    return whole if whole != begun else value


def _look_up(text: str) -> str | None:
    translated = QCoreApplication.translate(CONTEXT, text)
    return translated if translated != text else None


@cache
def sentence_templates() -> Templates:
    """Return the sentences of errors that are recognised to be translated."""
    import json

    from app.base.templates import Templates

    return Templates(json.loads((FOLDER / "templates.json").read_text(encoding="utf-8")))
