"""The language of the window: Hearth's own words, and Qt's."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.base.language import language_code, translation_of, use_language

_TRANSLATORS = "translators"


class Translator(QTranslator):
    """A translator that looks up every text in Hearth's catalogue, whichever class asks."""

    def isEmpty(self) -> bool:
        """Return False, as Qt ignores an empty translator."""
        return False

    def translate(
        self, _context: str, text: str, _disambiguation: str | None = None, _n: int = -1
    ) -> str | None:
        """Return the translation, or None to ask the next translator."""
        # "" would count as a translation; None passes the text on to the next translator.
        return translation_of(text)


def install_language(app: QCoreApplication, setting: str) -> None:
    """Use a language for all texts made from now on; texts that are already shown do not change.

    Args:
        app: The application.
        setting: A value of the setting `language`.

    Raises:
        FileNotFoundError: Hearth's translation into this language is missing.
    """
    # Listing the application's children would make PySide create a Python type for each class.
    for translator in app.property(_TRANSLATORS) or ():
        app.removeTranslator(translator)
        translator.setParent(None)
    app.setProperty(_TRANSLATORS, [])
    system = QLocale.system()
    code = language_code(setting, system.name())
    is_system_language = system.name().partition("_")[0] == code
    QLocale.setDefault(system if is_system_language else QLocale(code))
    use_language(code)
    if code == "en":
        return
    qt = QTranslator(app)
    if qt.load(f"qtbase_{code}", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        app.installTranslator(qt)
    hearth = Translator(app)
    app.installTranslator(hearth)
    app.setProperty(_TRANSLATORS, [qt, hearth])
