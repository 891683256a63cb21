"""No text of Hearth is without its German, and what is shipped is what the source says."""

from __future__ import annotations

import json
import re

import pytest
from PySide6.QtCore import QTranslator

from app.kit.look.language import CONTEXT, FOLDER
from resources.translations.make.extract import placeholders, templates, texts
from resources.translations.make.update import read

UPDATE = "run: python -m resources.translations.make.update"


@pytest.fixture(scope="module")
def german() -> dict[str, str]:
    return read(FOLDER / "hearth_de.ts")


@pytest.fixture(scope="module")
def english() -> list[str]:
    return list(texts())


def test_every_text_has_its_german(english: list[str], german: dict[str, str]) -> None:
    missing = [text for text in english if not german.get(text)]
    assert missing == [], UPDATE


def test_nothing_is_translated_that_is_said_no_more(
    english: list[str], german: dict[str, str]
) -> None:
    assert sorted(set(german) - set(english)) == [], UPDATE


def test_the_values_of_a_text_are_those_of_its_german(german: dict[str, str]) -> None:
    other = [text for text, said in german.items() if placeholders(text) != placeholders(said)]
    assert other == []


def test_blanks_at_the_ends_are_kept(german: dict[str, str]) -> None:
    """Texts that are put together with others begin or end with one."""

    def ends(text: str) -> tuple[bool, bool]:
        return text[:1].isspace(), text[-1:].isspace()

    assert [text for text, said in german.items() if ends(text) != ends(said)] == []


def test_quotation_marks_and_dashes_are_german(german: dict[str, str]) -> None:
    for said in german.values():
        for quoted in re.findall(r"“[^”]*”", said):
            pytest.fail(f"English quotation marks: {quoted} in {said}")
        assert said.count("„") == said.count("“"), said
        assert " - " not in said.replace("+ oder - ", ""), said


def test_what_the_window_loads_is_what_the_source_of_the_translation_says(
    german: dict[str, str],
) -> None:
    translator = QTranslator()
    assert translator.load(str(FOLDER / "hearth_de.qm"))
    for text, said in german.items():
        assert translator.translate(CONTEXT, text) == said, UPDATE


def test_the_templates_are_those_of_the_source() -> None:
    stored = json.loads((FOLDER / "templates.json").read_text(encoding="utf-8"))
    assert stored == templates(), UPDATE


@pytest.mark.parametrize(
    "text",
    [
        "New chat",
        "Temperature",
        "“{0}” could not be loaded.",
        "It says: {0}.",
        "Explain simply",
    ],
)
def test_texts_of_every_kind_are_found(text: str, english: list[str]) -> None:
    """Of the window, a setting, an engine's error, a value in a sentence, and an assistant."""
    assert text in english


@pytest.mark.parametrize(
    "sought",
    [
        "Loading weights took",
        "maximum context length",
        "See root cause",
        "no kernel image is available for execution on the device",
        "Starting vLLM server on",
    ],
)
def test_what_is_looked_for_in_the_words_of_others_is_no_text(
    sought: str, english: list[str]
) -> None:
    """In a stage of the log, an error of a server, a general and a telling one, and by a worker."""
    assert sought not in english
    assert "Loading the weights" in english
