"""The strip above the chat that shows a model's download."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtWidgets import QApplication, QLabel, QProgressBar, QPushButton, QToolButton
from pytestqt.qtbot import QtBot

from app.chats.welcome.pages.download_strip import DownloadStrip
from app.models.downloads.pages.download_words import duration, in_words
from app.models.downloads.values.downloads import Download, DownloadRequest
from app.models.hub.values.hub import RepoFile
from app.models.library.values.entry import ModelEntry
from tests.support.window import part

WANTED = DownloadRequest("ada/M-GGUF", "a" * 40, (RepoFile("m.gguf", 1000),), "ada/M-GGUF Q4_K_M")
ENTRY = ModelEntry("m", "M", Path("m.gguf"))
GOING = Download("1", WANTED, "running", 340, 12.5e6, 190.0)


@pytest.fixture
def strip(qapp: QApplication) -> Iterator[DownloadStrip]:
    made = DownloadStrip()
    made.resize(600, 60)
    yield made
    shiboken6.delete(made)


def line(strip: DownloadStrip) -> str:
    return part(strip, QLabel, "stripLine").text()


def test_it_is_there_only_while_something_comes(strip: DownloadStrip) -> None:
    assert strip.isHidden()
    strip.show_downloads([GOING])
    assert line(strip) == "34 %, 12.5 MB/s, 3 min left · M-GGUF Q4_K_M"
    assert part(strip, QProgressBar, "stripBar").value() == 34
    strip.show_downloads([replace(GOING, state="cancelled")])
    assert strip.isHidden()


def test_others_are_counted(strip: DownloadStrip) -> None:
    strip.show_downloads([GOING, replace(GOING, id="2", state="waiting")])
    assert line(strip).endswith("(and 1 more)")


def test_it_leads_to_all_downloads(strip: DownloadStrip, qtbot: QtBot) -> None:
    strip.show_downloads([GOING])
    with qtbot.waitSignal(strip.show_all):
        part(strip, QPushButton, "stripButton").click()


def test_what_has_come_can_be_used(strip: DownloadStrip, qtbot: QtBot) -> None:
    done = replace(GOING, state="done", bytes_done=1000)
    strip.show_downloads([GOING])
    strip.show_completed(done, ENTRY)
    assert line(strip).startswith("34 %"), "it is still under way, as far as the list knows"
    strip.show_downloads([done])
    qtbot.waitUntil(lambda: line(strip) == "Ready: M-GGUF Q4_K_M")
    with qtbot.waitSignal(strip.use) as used:
        part(strip, QPushButton, "stripButton").click()
    assert used.args == [done]
    assert strip.isHidden()


def test_what_was_seen_can_be_put_away(strip: DownloadStrip) -> None:
    strip.show_completed(replace(GOING, state="done"), ENTRY)
    assert not strip.isHidden()
    part(strip, QToolButton, "stripClose").click()
    strip.show_downloads([replace(GOING, state="done")])
    assert strip.isHidden()


def test_a_drafter_by_itself_and_what_was_done_before_are_no_news(strip: DownloadStrip) -> None:
    strip.show_downloads([replace(GOING, state="done")])
    assert strip.isHidden()
    strip.show_completed(replace(GOING, state="done"), None)
    assert strip.isHidden()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"state": "waiting"}, "Waiting"),
        ({"state": "paused"}, "Paused at 34 %"),
        ({"state": "retrying", "retry_in_s": 5.0}, "Trying again in 5 s"),
        ({"state": "verifying"}, "Checking the file"),
        ({"state": "running", "bytes_per_s": None, "seconds_left": None}, "34 %"),
    ],
)
def test_every_state_has_its_words(changed: dict[str, object], words: str) -> None:
    assert in_words(replace(GOING, **changed)) == words  # type: ignore[arg-type]


def test_times_are_said_as_people_do() -> None:
    assert [duration(s) for s in (0.2, 59, 60, 3599, 3600, 7800)] == [
        "1 s", "59 s", "1 min", "1 h 0 min", "1 h 0 min", "2 h 10 min",
    ]  # fmt: skip
