"""Every page can be read: nothing is clipped, covered, cut off, grey on grey or a dead end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

import pytest
from PySide6.QtWidgets import (
    QApplication,
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.settings.pages.appearance import Appearance
from app.settings.values.fields import Settings
from tests.e2e.looks import rules, spoken
from tests.e2e.looks.house import House, opened, settle
from tests.e2e.looks.pages import PAGES, Page
from tests.e2e.looks.views import NARROW, SMALL, VIEWS, WIDE, View, go_back, take
from tests.e2e.looks.visit import visit

ORDINARY = tuple(view for view in VIEWS if not view.high)
HIGH = tuple(view for view in VIEWS if view.high)
IN_HIGH_CONTRAST = frozenset({"welcome", "thoughts", "failed", "here", "settings-desktop"})


FEW = tuple(view for view in VIEWS if view.high or (view.theme == "light") == (view.size == NARROW))
"""The views without `--all`: each theme and each width, but not each theme in each width."""
FEW_SMALL = SMALL[-1:]
"""The small windows without `--all`: the largest letters, with the long words of German."""


def complaints(house: House, page: Page, view: View, following: Page | None) -> list[str]:
    """Return the faults of a page in one view; the window is as before afterwards."""
    shown = take(house, page, view)
    found = rules.faults(shown)
    if page.empty:
        found += rules.without_next_step(house.part(QWidget, page.empty))
    if view.size == NARROW and shown is house.window and not page.grows:
        wider = shown.width() - NARROW[0]
        found += [f"the window grew by {wider} pixels"] if wider > 0 else []
    go_back(house, page, following)
    return [f"{page.name}, {view.name}: {complaint}" for complaint in found]


def looked_at(house: House, *, full: bool, exhaustive: bool) -> list[str]:
    """Visit the pages view by view, as changing the theme takes longest.

    Without `--all` each page is visited in one ordinary view, and the next page in the other.
    """
    pages = [page for page in PAGES if page.full is full]
    ordinary = [view for view in FEW if view in ORDINARY]
    found = []
    for view in VIEWS if exhaustive else FEW:
        if view in HIGH:
            shown = [page for page in pages if page.name in IN_HIGH_CONTRAST]
        else:
            shown = pages if exhaustive else pages[ordinary.index(view) :: len(ordinary)]
        for page, following in zip_longest(shown, shown[1:]):
            found += complaints(house, page, view, following)
    return found


@pytest.mark.timeout(600)
@pytest.mark.parametrize("full", [False, True], ids=["empty", "used"])
def test_every_page_can_be_read(
    qtbot: QtBot, qapp: QApplication, data_dir: Path, full: bool, exhaustive: bool
) -> None:
    with opened(qapp, data_dir, full=full) as house:
        found = looked_at(house, full=full, exhaustive=exhaustive)
    assert not found, "\n" + "\n".join(found)


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("language", "font"),
    [
        ("deutsch", "DejaVu"),
        pytest.param("english", "shipped", marks=pytest.mark.exhaustive),
        pytest.param("english", "DejaVu", marks=pytest.mark.exhaustive),
        pytest.param("deutsch", "shipped", marks=pytest.mark.exhaustive),
    ],
)
def test_every_page_has_room_in_a_small_window(
    qtbot: QtBot,
    qapp: QApplication,
    data_dir: Path,
    language: str,
    font: str,
    exhaustive: bool,
) -> None:
    views = SMALL if exhaustive else FEW_SMALL
    found = list(visit(qapp, data_dir, language, font, views))
    assert not found, "\n" + "\n".join(found)


Build = Callable[[QWidget], object]


@pytest.fixture
def broken(qtbot: QtBot, qapp: QApplication) -> Iterator[Callable[[Build], QWidget]]:
    """Return a function that shows a window of 300 x 200 pixels with a test's widgets."""
    appearance = Appearance(qapp)
    appearance.apply(Settings(theme="light"))

    def show(build: Build) -> QWidget:
        window = QWidget()
        window.setObjectName("window")
        window.resize(300, 200)
        build(window)
        qtbot.addWidget(window)
        window.show()
        settle()
        return window

    yield show
    appearance.deleteLater()


def named(widget: QWidget, name: str, parent: QWidget) -> QWidget:
    widget.setObjectName(name)
    widget.setParent(parent)
    return widget


def small_label(window: QWidget) -> None:
    named(QLabel("Far too long for so little room"), "small", window).setGeometry(0, 0, 60, 20)


def low_text(window: QWidget) -> None:
    label = QLabel("This takes several lines where there is only so little room for them.")
    label.setWordWrap(True)
    named(label, "low", window).setGeometry(0, 0, 100, 20)


def small_button(window: QWidget) -> None:
    named(QPushButton("Download it again"), "squeezed", window).setGeometry(0, 0, 60, 36)


def small_hint(window: QWidget) -> None:
    field = QLineEdit()
    field.setPlaceholderText("Search by name, source or quantisation")
    named(field, "hinted", window).setGeometry(0, 0, 90, 34)


def far_out(window: QWidget) -> None:
    named(QPushButton("Out"), "far", window).setGeometry(280, 10, 80, 36)


def over_each_other(window: QWidget) -> None:
    named(QPushButton("One"), "one", window).setGeometry(0, 0, 90, 36)
    named(QPushButton("Two"), "two", window).setGeometry(60, 10, 90, 36)


def wide_page(window: QWidget) -> None:
    area, page = QScrollArea(), QWidget()
    page.setFixedSize(600, 50)
    area.setWidget(page)
    named(area, "sideways", window).setGeometry(0, 0, 200, 100)


def pale_text(window: QWidget) -> None:
    label = QLabel("Grey on grey")
    label.setStyleSheet("color: #9a9a9a; background: #dcdcdc")
    named(label, "pale", window).setGeometry(0, 0, 120, 24)


def pale_line(window: QWidget) -> None:
    label = QLabel("<p>Black</p><p style='color: #c8c8c8'>and pale</p>")
    named(label, "half-pale", window).setGeometry(0, 0, 120, 60)


def nameless(window: QWidget) -> None:
    button = QPushButton()
    named(button, "silent", window)


def named_by_value(window: QWidget) -> None:
    box = QComboBox()
    box.addItem("By name")
    box.setAccessibleName("Order")
    named(box, "order", window)


def without_relation(window: QWidget) -> None:
    layout = QHBoxLayout(window)
    field = QLineEdit()
    field.setAccessibleName("Seed")
    layout.addWidget(QLabel("Seed"))
    layout.addWidget(field)
    field.setObjectName("seed")


def one_of_several(window: QWidget) -> None:
    group = QButtonGroup(window)
    for text in ("Left", "Right"):
        button = QPushButton(text)
        button.setCheckable(True)
        button.setAutoExclusive(text == "Right")
        group.addButton(button)
        named(button, text, window)


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (nameless, "silent in window has no name"),
        (named_by_value, "order in window is named by its value “By name”"),
        (without_relation, "seed in window is not related to its label “Seed”"),
        (one_of_several, "Left “Left” in window is one of several and not a radio button"),
    ],
)
def test_a_control_that_is_misread_is_named(
    broken: Callable[[Build], QWidget], build: Build, said: str
) -> None:
    (complaint,) = spoken.unspoken(broken(build))
    assert complaint.startswith(said)


def test_focus_out_of_sight_is_named(broken: Callable[[Build], QWidget]) -> None:
    def build(window: QWidget) -> None:
        named(QPushButton("Near"), "near", window)
        named(QPushButton("Far"), "far", window).move(2_000, 10)

    (complaint,) = spoken.lost_focus(broken(build))
    assert complaint == "far “Far” in window has the focus and is not in sight"


@pytest.mark.parametrize(
    ("build", "rule", "said"),
    [
        (small_label, rules.clipped, "small"),
        (low_text, rules.clipped, "low"),
        (small_button, rules.clipped, "squeezed"),
        (small_hint, rules.clipped, "hinted"),
        (far_out, rules.outside, "far"),
        (over_each_other, rules.overlapping, "one"),
        (wide_page, rules.scrolling_across, "sideways"),
        (pale_text, rules.unreadable, "pale"),
        (pale_line, rules.unreadable, "half-pale"),
    ],
)
def test_each_rule_names_what_breaks_it(
    broken: Callable[[Build], QWidget],
    build: Build,
    rule: Callable[[rules.Shown], Iterator[str]],
    said: str,
) -> None:
    (complaint,) = rule(rules.Shown.of(broken(build)))
    assert complaint.startswith(said)


def test_an_empty_page_needs_a_sentence_and_a_step(broken: Callable[[Build], QWidget]) -> None:
    window = broken(lambda window: QVBoxLayout(window).addWidget(QLabel("Nothing")))
    assert len(list(rules.without_next_step(window))) == 2


def test_what_is_well_made_is_let_pass(broken: Callable[[Build], QWidget]) -> None:
    def build(window: QWidget) -> None:
        row = QHBoxLayout(window)
        row.addWidget(QLabel("There is nothing here yet."))
        row.addWidget(QPushButton("Add one"))

    window = broken(build)
    assert rules.faults(window) == []
    assert list(rules.without_next_step(window)) == []


def test_the_views_cover_both_themes_and_widths() -> None:
    assert {(view.theme, view.size) for view in ORDINARY} == {
        (theme, size) for theme in ("light", "dark") for size in (WIDE, NARROW)
    }
    assert {view.theme for view in HIGH} == {"light", "dark"}
