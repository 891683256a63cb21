"""The window speaks German: its own words, Qt's, and what the layers under it say."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QApplication, QLabel

from app.kit.look.format import day, figure, size
from app.kit.look.language import code_of, speak, translated
from app.settings.pages.settings_dialog import SettingsDialog
from app.settings.values.fields import Settings
from engines.errors import UserError
from tests.support.window import Ui


@pytest.mark.parametrize(
    ("wish", "system", "code"),
    [
        ("system", "de_AT", "de"),
        ("system", "en_GB", "en"),
        ("system", "fr_FR", "en"),
        ("english", "de_DE", "en"),
        ("deutsch", "en_US", "de"),
    ],
)
def test_the_language_follows_the_setting_then_the_system(
    wish: str, system: str, code: str
) -> None:
    assert code_of(wish, QLocale(system)) == code


def test_the_window_is_german(german: None, ui: Ui) -> None:
    assert ui.edit.accessibleName() == "Nachricht"
    ui.press("Ctrl+,")
    dialog = ui.find(SettingsDialog)
    said = {label.text() for label in dialog.findChildren(QLabel)}
    assert {"Darstellung", "Farbschema", "Temperatur"} <= said
    assert "Theme" not in said
    dialog.close()


def test_errors_of_the_layers_below_are_german(german: None, ui: Ui) -> None:
    ui.window.notifier.error(
        UserError(
            "“a.gguf” could not be loaded.",
            "It needs 7.3 GB, most of it for the KV cache, and 5 GB are free.",
            "Choose a smaller model, or close other programs.",
        )
    )
    lines = [ui.find(QLabel, f"toastLine{number}").text() for number in (1, 2, 3)]
    assert lines == [
        "„a.gguf“ ließ sich nicht laden.",
        "Es braucht 7,3 GB, das meiste für den KV-Cache, und 5 GB sind frei.",
        "Wähle ein kleineres Modell oder schließe andere Programme.",
    ]
    ui.click("toastClose")


@pytest.mark.parametrize(
    ("english", "words"),
    [
        (
            (
                "Careful answers, European languages and tools. It fits, and writes about 12 "
                "tokens a second."
            ),
            (
                "Sorgfältige Antworten, europäische Sprachen und Werkzeuge. Es passt und schreibt "
                "etwa 12 Token pro Sekunde."
            ),
        ),
        (
            "On: its drafter is small (59 MB) and was seen to give about a fifth more speed.",
            "An: Sein Drafter ist klein (59 MB) und brachte etwa ein Fünftel mehr Tempo.",
        ),
        (
            "This model can answer faster: up to 2.1x on this computer",
            "Dieses Modell kann schneller antworten: bis zu 2,1x auf diesem Computer",
        ),
        (
            "The weather.gguf has changed since it was downloaded or added.",
            "The weather.gguf hat sich seit dem Download oder Hinzufügen geändert.",
        ),
    ],
)
def test_sentences_are_put_together_again(german: None, english: str, words: str) -> None:
    assert translated(english) == words


def test_words_of_others_stay_as_they_are(german: None) -> None:
    assert translated("ggml_abort: something odd") == "ggml_abort: something odd"
    assert translated("") == ""


def test_numbers_sizes_and_days_are_german(german: None) -> None:
    assert figure(1234567.8, 1) == "1.234.567,8"
    assert size(7_300_000_000) == "7,3 GB"
    assert day(1_777_777_777).endswith("2026")
    assert ". " in day(1_777_777_777)


def test_qts_own_words_are_german(german: None) -> None:
    said = QCoreApplication.translate("QPlatformTheme", "Discard")
    assert said == "Verwerfen"


def test_english_is_what_the_source_says(qapp: QApplication) -> None:
    before = QLocale()
    speak(qapp, "english")
    assert translated("It says: no.") == "It says: no."
    assert QCoreApplication.translate("x", "New chat") == "New chat"
    assert figure(1234567) == "1,234,567"
    assert Settings().language == "system"
    QLocale.setDefault(before)
