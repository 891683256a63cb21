"""Both themes can be read."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from app.ui.stylesheet import stylesheet
from app.ui.theme import DARK, LIGHT, Theme, contrast, palette_of, theme_of
from tests.app.ui.conftest import Ui

READ_ON = {
    "text": (
        "base", "side", "raised", "hover", "pressed", "bubble", "code", "accent_soft",
        "danger_soft",
    ),
    "muted": ("base", "side", "raised", "hover", "code"),
    "accent_text": ("base", "side", "raised", "hover", "bubble", "accent_soft"),
    "on_accent": ("accent", "accent_hover"),
    "danger": ("base", "raised", "danger_soft", "accent_soft"),
    "good": ("base", "raised", "accent_soft"),
    "warn": ("base", "raised", "accent_soft"),
    "syntax_keyword": ("code",),
    "syntax_string": ("code",),
    "syntax_number": ("code",),
    "syntax_comment": ("code",),
    "syntax_name": ("code",),
    "syntax_operator": ("code",),
}  # fmt: skip


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_text_has_enough_contrast(theme: Theme) -> None:
    for text, grounds in READ_ON.items():
        for ground in grounds:
            ratio = contrast(getattr(theme, text), getattr(theme, ground))
            assert ratio >= 4.5, f"{text} on {ground}: {ratio:.2f}"


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_a_theme_is_found_in_its_palette(theme: Theme) -> None:
    assert theme_of(palette_of(theme)) == theme
    assert theme.accent in stylesheet(theme)


def test_the_theme_follows_the_settings(ui: Ui, qapp: QApplication) -> None:
    ui.engine.pieces = ("`code`\n\n```python\nx = 1\n```",)
    ui.ask("Hi")
    for name, theme in (("dark", DARK), ("light", LIGHT)):
        ui.services.settings.set("theme", name)
        assert qapp.palette().color(QPalette.ColorRole.Window).name() == theme.base
        assert theme_of(ui.last.view.palette()) == theme
        assert theme.text in ui.last.view.toHtml()
    assert ui.texts[1].startswith("code")
