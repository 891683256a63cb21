"""The colours and sizes of the window: four themes and one set of sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from PySide6.QtGui import QColor, QPalette

GRID = 8
RADIUS = 10
COLUMN = 760
"""The maximum width of text in pixels, so that lines stay readable."""
BAR = 12
"""The width of a scroll bar in pixels; this room stays free without one, to align columns."""

SMALL, BASE, LARGE, DISPLAY = 12, 13, 16, 26
"""Font sizes in pixels; the size of messages is a setting."""


@dataclass(frozen=True, eq=False)
class Theme:
    """The colours of one theme, by purpose; two themes are equal only if they are the same object.

    Attributes:
        dark: Whether the theme is dark.
        base: The background of the chat.
        side: The background of the sidebar.
        raised: The background of cards, menus and fields on top of `base`.
        hover: The background of quiet controls under the pointer.
        pressed: The background of quiet controls while they are pressed.
        line: Lines between areas and around cards.
        outline: Outlines of buttons and chips, whose words show what they are.
        edge: Outlines of fields, which nothing else shows: 3:1 against what is around them.
        text: Text.
        muted: Less important text.
        accent: The one colour that asks for attention.
        accent_hover: `accent` under the pointer.
        on_accent: Text on `accent`.
        accent_text: Text in the accent colour.
        accent_soft: A background in a soft accent colour.
        bubble: The background of the user's messages.
        code: The background of code.
        danger: Errors.
        danger_soft: The background of errors.
        good: Good news; the words never depend on the colour alone.
        warn: Warnings; the words never depend on the colour alone.
        use_others, use_...: The parts of a memory in a chart.
        syntax_keyword, syntax_...: Parts of code.
    """

    dark: bool
    base: str
    side: str
    raised: str
    hover: str
    pressed: str
    line: str
    outline: str
    edge: str
    text: str
    muted: str
    accent: str
    accent_hover: str
    on_accent: str
    accent_text: str
    accent_soft: str
    bubble: str
    code: str
    danger: str
    danger_soft: str
    good: str
    warn: str
    use_others: str
    use_weights: str
    use_context: str
    use_compute: str
    use_drafter: str
    use_projector: str
    use_files: str
    syntax_keyword: str
    syntax_string: str
    syntax_number: str
    syntax_comment: str
    syntax_name: str
    syntax_operator: str


LIGHT = Theme(
    dark=False,
    base="#fdfcfa",
    side="#f4f1ec",
    raised="#ffffff",
    hover="#ebe6de",
    pressed="#e1dbd1",
    line="#e2dcd2",
    outline="#cbc3b7",
    edge="#91887c",
    text="#25211c",
    muted="#6c645a",
    accent="#b4440f",
    accent_hover="#9a390b",
    on_accent="#ffffff",
    accent_text="#a83f0d",
    accent_soft="#fbeee4",
    bubble="#f3eee6",
    code="#f6f3ee",
    danger="#b3261e",
    danger_soft="#fcebe9",
    good="#286537",
    warn="#855600",
    use_others="#8a8278",
    use_weights="#b4440f",
    use_context="#1d5a93",
    use_compute="#7d52a8",
    use_drafter="#2f7d5b",
    use_projector="#9c7600",
    use_files="#a83a76",
    syntax_keyword="#8b2fa3",
    syntax_string="#2f6b2b",
    syntax_number="#9a4a00",
    syntax_comment="#6f675d",
    syntax_name="#1d5a93",
    syntax_operator="#5c554c",
)

DARK = Theme(
    dark=True,
    base="#1c1a18",
    side="#151412",
    raised="#262320",
    hover="#2c2925",
    pressed="#38342f",
    line="#37332e",
    outline="#504a44",
    edge="#766e65",
    text="#ece7e0",
    muted="#a69e93",
    accent="#f08a4b",
    accent_hover="#f59c64",
    on_accent="#231204",
    accent_text="#f39a61",
    accent_soft="#33251b",
    bubble="#2d2925",
    code="#242120",
    danger="#f2867d",
    danger_soft="#3a2220",
    good="#8fcb9b",
    warn="#e8c070",
    use_others="#857d74",
    use_weights="#f08a4b",
    use_context="#6fa8dc",
    use_compute="#c49be8",
    use_drafter="#7fc29b",
    use_projector="#e0c850",
    use_files="#ea92bd",
    syntax_keyword="#d79be8",
    syntax_string="#9ccc8f",
    syntax_number="#f0b27a",
    syntax_comment="#9c9489",
    syntax_name="#84bdf0",
    syntax_operator="#c4bcb1",
)

HIGH_LIGHT = replace(
    LIGHT,
    base="#ffffff",
    side="#fefefe",
    hover="#e4e4e4",
    pressed="#d2d2d2",
    line="#767676",
    outline="#5c5c5c",
    edge="#1a1a1a",
    text="#000000",
    muted="#333333",
    accent="#7c2a00",
    accent_hover="#5c1f00",
    accent_text="#6e2500",
    accent_soft="#ffeee2",
    bubble="#ebebeb",
    code="#f2f2f2",
    danger="#8c0c06",
    danger_soft="#ffe9e7",
    good="#0b4a1b",
    warn="#5a3a00",
    syntax_keyword="#6a1182",
    syntax_string="#12480f",
    syntax_number="#6e3300",
    syntax_comment="#474747",
    syntax_name="#0b3f70",
    syntax_operator="#262626",
)

HIGH_DARK = replace(
    DARK,
    base="#000000",
    side="#010101",
    raised="#0c0c0c",
    hover="#2b2b2b",
    pressed="#3c3c3c",
    line="#8c8c8c",
    outline="#a8a8a8",
    edge="#f0f0f0",
    text="#ffffff",
    muted="#d6d6d6",
    accent="#ffb184",
    accent_hover="#ffc5a3",
    on_accent="#000000",
    accent_text="#ffb992",
    accent_soft="#2e1c10",
    bubble="#262626",
    code="#141414",
    danger="#ffb0aa",
    danger_soft="#360f0c",
    good="#a5e8b3",
    warn="#ffdc92",
    syntax_keyword="#ecc2f7",
    syntax_string="#b9e6ae",
    syntax_number="#ffcfa1",
    syntax_comment="#c8c8c8",
    syntax_name="#b0d8ff",
    syntax_operator="#e6e6e6",
)

THEMES = (LIGHT, DARK, HIGH_LIGHT, HIGH_DARK)


Tone = Literal["text", "muted", "on_accent", "accent_text", "danger", "good", "warn"]
"""The colours of icons."""


def colour_of(theme: Theme, tone: Tone) -> str:
    """Return the colour that a theme has for a tone."""
    colour: str = getattr(theme, tone)
    return colour


def theme_of(palette: QPalette) -> Theme:
    """Return the theme that a palette was made from; for a foreign palette, LIGHT or DARK.

    This compares a role that style sheets do not overwrite, as they do with most others.
    """
    side = palette.color(QPalette.ColorRole.AlternateBase)
    closest = DARK if side.lightness() < 128 else LIGHT
    return next((theme for theme in THEMES if QColor(theme.side) == side), closest)


def chosen_theme(*, dark: bool, high: bool) -> Theme:
    """Return the light or dark theme, in its high-contrast version if `high` is set."""
    if high:
        return HIGH_DARK if dark else HIGH_LIGHT
    return DARK if dark else LIGHT


def palette_of(theme: Theme) -> QPalette:
    """Make the palette, for the parts that the Fusion style draws and for widgets that read it."""
    role = QPalette.ColorRole
    colours = {
        role.Window: theme.base,
        role.WindowText: theme.text,
        role.Base: theme.raised,
        role.AlternateBase: theme.side,
        role.Text: theme.text,
        role.Button: theme.raised,
        role.ButtonText: theme.text,
        role.BrightText: theme.on_accent,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.PlaceholderText: theme.muted,
        role.Highlight: theme.accent,
        role.HighlightedText: theme.on_accent,
        role.Accent: theme.accent,
        role.Link: theme.accent_text,
        role.LinkVisited: theme.accent_text,
        role.Light: theme.raised,
        role.Midlight: theme.hover,
        role.Mid: theme.line,
        role.Dark: theme.line,
        role.Shadow: theme.pressed,
    }
    palette = QPalette()
    for palette_role, colour in colours.items():
        palette.setColor(palette_role, QColor(colour))
    for palette_role in (role.WindowText, role.Text, role.ButtonText):
        palette.setColor(QPalette.ColorGroup.Disabled, palette_role, QColor(theme.muted))
    return palette


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two colours (WCAG 2.1): 1 to 21; 4.5 is readable."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    shade = QColor(colour)
    channels = (shade.redF(), shade.greenF(), shade.blueF())
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
