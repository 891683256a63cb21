"""Drawing the window in the fonts that Hearth ships."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QFont, QFontInfo, QFontMetrics, QGlyphRun, QRawFont, QTextLayout
from PySide6.QtWidgets import QApplication, QPlainTextEdit
from pytestqt.qtbot import QtBot

from app.kit.look.fonts import CODE, TEXT, code_font, text_font
from app.settings.pages.appearance import Appearance
from app.settings.values.fields import Settings


def drawn(text: str, font: QFont) -> list[QGlyphRun]:
    """Return the glyphs of a text, a run for each face."""
    layout = QTextLayout(text, font)
    layout.beginLayout()
    layout.createLine()
    layout.endLayout()
    return layout.glyphRuns()


def families(text: str, font: QFont) -> set[str]:
    return {run.rawFont().familyName() for run in drawn(text, font)}


@pytest.mark.parametrize("weight", [QFont.Weight.Normal, QFont.Weight.DemiBold])
@pytest.mark.parametrize("italic", [False, True])
def test_text_is_drawn_in_a_face_that_is_shipped(
    qapp: QApplication, weight: QFont.Weight, italic: bool
) -> None:
    font = text_font(13)
    font.setWeight(weight)
    font.setItalic(italic)
    face = QRawFont.fromFont(font)
    assert (face.familyName(), face.weight()) == (TEXT, weight)
    assert ("Italic" in face.styleName()) is italic


def test_code_is_drawn_in_signs_of_one_width_without_ligatures(qapp: QApplication) -> None:
    font = code_font(12)
    assert QRawFont.fromFont(font).familyName() == CODE
    metrics = QFontMetrics(font)
    wide = metrics.horizontalAdvance("i")
    for code in ("W", "─", "é", "Ж"):
        assert metrics.horizontalAdvance(code) == wide
    (arrow,) = drawn("->", font)
    assert arrow.glyphIndexes() == QRawFont.fromFont(font).glyphIndexesForString("->")


def test_a_sign_of_another_script_comes_from_the_systems_fonts(qapp: QApplication) -> None:
    assert families("Ωmega Привет", text_font(13)) == {TEXT}
    assert families("abc \N{HEBREW LETTER ALEF}", text_font(13)) > {TEXT}


def test_labels_and_code_fields_take_the_shipped_fonts(qtbot: QtBot, qapp: QApplication) -> None:
    appearance = Appearance(qapp)
    appearance.apply(Settings(theme="light"))
    field = QPlainTextEdit()
    field.setProperty("look", "code")
    qtbot.addWidget(field)
    field.show()
    assert QFontInfo(qapp.font()).family() == TEXT
    assert QFontInfo(field.font()).family() == CODE
    appearance.deleteLater()
