"""The contrast and consistency of both themes."""

from __future__ import annotations

import re

import pytest
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QApplication

from app.kit.look.stylesheet import stylesheet
from app.kit.look.theme import (
    DARK,
    HIGH_DARK,
    HIGH_LIGHT,
    LIGHT,
    THEMES,
    Theme,
    contrast,
    palette_of,
    theme_of,
)
from tests.support.window import Ui

PAIRS = (
    (r"(?<![-\w])color: (#\w+)", r"background: (#\w+)"),
    (r"selection-color: (#\w+)", r"selection-background-color: (#\w+)"),
    (r"placeholder-text-color: (#\w+)", r"background: (#\w+)"),
)
"""Patterns for the colours of a text and of its background in a style sheet."""

READ_ON = {
    "text": (
        "base", "side", "raised", "hover", "pressed", "bubble", "code", "accent_soft",
        "danger_soft",
    ),
    "muted": ("base", "side", "raised", "hover", "code", "bubble", "accent_soft"),
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


EDGED = {
    "edge": ("base", "side", "raised"),
    "accent": ("base", "side", "raised", "hover"),
    "use_weights": ("raised",),
    "use_context": ("raised",),
    "use_compute": ("raised",),
    "use_drafter": ("raised",),
    "use_projector": ("raised",),
    "use_others": ("raised",),
}
"""Colours of edges, focus marks and bars, each with the backgrounds that they lie on."""

every_theme = pytest.mark.parametrize(
    "theme", THEMES, ids=["light", "dark", "high light", "high dark"]
)


@every_theme
def test_text_has_enough_contrast(theme: Theme) -> None:
    least = 7.0 if theme in (HIGH_LIGHT, HIGH_DARK) else 4.5
    for text, grounds in READ_ON.items():
        for ground in grounds:
            ratio = contrast(getattr(theme, text), getattr(theme, ground))
            assert ratio >= least, f"{text} on {ground}: {ratio:.2f}"


@every_theme
def test_edges_and_pictures_have_enough_contrast(theme: Theme) -> None:
    for edge, grounds in EDGED.items():
        for ground in grounds:
            ratio = contrast(getattr(theme, edge), getattr(theme, ground))
            assert ratio >= 3, f"{edge} on {ground}: {ratio:.2f}"


@every_theme
def test_what_the_style_sheet_puts_together_can_be_read(qapp: QApplication, theme: Theme) -> None:
    """This covers every rule that sets both colours."""
    pairs = 0
    for rule in re.findall(r"{([^}]*)}", stylesheet(theme)):
        for text, ground in PAIRS:
            read, behind = re.search(text, rule), re.search(ground, rule)
            if read and behind:
                pairs += 1
                assert contrast(read[1], behind[1]) >= 4.5, rule
    assert pairs > 10


@every_theme
def test_themes_differ_in_colours_alone(qapp: QApplication, theme: Theme) -> None:
    """It is therefore enough to test the layout of a page in one theme."""
    colour = re.compile(r"#[0-9a-f]{6}\b")
    for zoom in (1.0, 1.5, 2.0):
        assert colour.sub("", stylesheet(theme, zoom)) == colour.sub("", stylesheet(LIGHT, zoom))
    values = (value for name, value in vars(theme).items() if name != "dark")
    assert all(colour.fullmatch(value) for value in values)


def test_no_state_changes_the_font(qapp: QApplication) -> None:
    """Qt measures text without its state, so text that turns bold when chosen would be cut."""
    rules = re.findall(r"([^{}]+){([^}]*)}", stylesheet(LIGHT))
    assert len(rules) > 50
    states = re.compile(r"(?<!:):(checked|selected|hover|pressed|focus|disabled)")
    assert [name for name, rule in rules if states.search(name) and "font" in rule] == []


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@every_theme
def test_a_theme_is_found_in_its_palette(qapp: QApplication, theme: Theme) -> None:
    assert theme_of(palette_of(theme)) == theme
    assert theme.accent in stylesheet(theme)


def test_the_theme_follows_the_settings(ui: Ui, qapp: QApplication) -> None:
    ui.engine.pieces = ("`code`\n\n```python\nx = 1\n```",)
    ui.ask("Hi")
    for name, theme in (("dark", DARK), ("light", LIGHT)):
        ui.presenters.settings.set("theme", name)
        assert qapp.palette().color(QPalette.ColorRole.Window).name() == theme.base
        assert theme_of(ui.last.view.palette()) == theme
        assert theme.text in ui.last.view.toHtml()
    assert ui.texts[1].startswith("code")
