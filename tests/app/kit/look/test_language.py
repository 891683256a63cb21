"""The German window: its own words, Qt's, and the sentences of the layers below."""

from __future__ import annotations

import json
import pickle

import pytest
from PySide6.QtCore import QCoreApplication, QLocale
from PySide6.QtWidgets import QApplication, QLabel

from app.base.language import language_code, translated
from app.kit.look.format import day, figure, size
from app.kit.look.language import install_language
from app.settings.pages.settings_dialog import SettingsDialog
from app.settings.values.fields import Settings
from engines.errors import UserError
from engines.redaction import remember
from engines.sentences import N_, joined, packed, unpacked
from tests.support.window import Ui


@pytest.mark.parametrize(
    ("setting", "system", "code"),
    [
        ("system", "de_AT", "de"),
        ("system", "en_GB", "en"),
        ("system", "fr_FR", "en"),
        ("english", "de_DE", "en"),
        ("deutsch", "en_US", "de"),
    ],
)
def test_the_language_follows_the_setting_then_the_system(
    setting: str, system: str, code: str
) -> None:
    assert language_code(setting, system) == code


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
            N_("“{name}” could not be loaded.", name="a.gguf"),
            N_("{path} is empty, and there is no daily copy of it yet.", path="hearth.db"),
            "Choose a smaller model, or close other programs.",
        )
    )
    lines = [ui.find(QLabel, f"toastLine{number}").text() for number in (1, 2, 3)]
    assert lines == [
        "„a.gguf“ ließ sich nicht laden.",
        "hearth.db ist leer, und es gibt noch keine tägliche Kopie davon.",
        "Wähle ein kleineres Modell oder schließe andere Programme.",
    ]
    ui.click("toastClose")


@pytest.mark.parametrize(
    ("english", "words"),
    [
        (
            joined(
                " ",
                (
                    N_("Careful answers, European languages and tools."),
                    N_(
                        "{where}, and writes {speed}.",
                        where=N_("It fits"),
                        speed=N_("about {number} tokens a second", number=12),
                    ),
                ),
            ),
            (
                "Sorgfältige Antworten, europäische Sprachen und Werkzeuge. Es passt und schreibt "
                "etwa 12 Token pro Sekunde."
            ),
        ),
        (
            N_(
                "On. {why}",
                why=N_(
                    "Its drafter is small (59 MB) and was seen to give about a fifth more speed."
                ),
            ),
            "An. Sein Drafter ist klein (59 MB) und brachte etwa ein Fünftel mehr Tempo.",
        ),
        (
            N_("It says: {error}.", error=ValueError(N_("It should be at least {limit}", limit=2))),
            "Die Meldung: Es sollte mindestens 2 sein.",
        ),
        (
            N_(
                "It needs {need}, and {have} are free.",
                need="1,007.3 GB",
                have="5 GB",
            ),
            "Es braucht 1.007,3 GB, und 5 GB sind frei.",
        ),
    ],
)
def test_sentences_are_translated_with_their_values(german: None, english: str, words: str) -> None:
    assert translated(english) == words


def test_a_sentence_keeps_its_template_where_it_is_stored(german: None) -> None:
    """It is stored in databases and files, sent between processes, and part of redacted errors."""
    remember("sk-1234567890abcdef")
    why = N_("It says: {error}.", error="sk-1234567890abcdef")
    error = UserError(N_("“{name}” could not be loaded.", name=N_("{name} chats", name=2)), why, "")
    stored = unpacked(json.loads(json.dumps(packed([error.what, error.why]))))
    assert stored == ["“2 chats” could not be loaded.", "It says: [hidden]."]
    assert translated(pickle.loads(pickle.dumps(stored[1]))) == "Die Meldung: [hidden]."


def test_a_text_from_elsewhere_never_becomes_a_template() -> None:
    text = '{"sentence": "{a}", "values": {"a": "b"}}'
    assert unpacked(packed([text])) == [text]
    assert unpacked(packed(N_("It says: {error}.", error=text))) == f"It says: {text}."


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
    install_language(qapp, "english")
    assert translated("It says: no.") == "It says: no."
    assert QCoreApplication.translate("x", "New chat") == "New chat"
    assert figure(1234567) == "1,234,567"
    assert Settings().language == "system"
    QLocale.setDefault(before)
