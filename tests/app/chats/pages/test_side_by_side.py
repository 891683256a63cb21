"""Several chats at once: a waiting answer shows the reason and can be stopped by itself."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtWidgets import QLabel

from app.chats.transcript.pages.wait_words import wait_words
from app.runtime.values.wait import Wait
from tests.support.window import Ui, part


def progress(ui: Ui) -> str:
    """Return the text shown before an answer's first word, without the moving dots."""
    return part(ui.last, QLabel, "progressText").text().rstrip(" ·")


def state_of(ui: Ui) -> str:
    return ui.last.message.state


def test_it_says_why_it_waits_also_when_it_is_opened_again(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.ask("One", wait=False)
    ui.wait_for_text("Hello")
    first = ui.page.chat_id
    ui.window.new_chat()
    ui.ask("Two", wait=False)
    waits = "Waits for its turn: Starter guide writes one answer at a time"
    ui.qtbot.waitUntil(lambda: ui.page.chat_id is not None and progress(ui) == waits)
    second = ui.page.chat_id
    ui.window.open_chat(first)
    ui.wait_for_text("Hello")
    ui.window.open_chat(second)
    assert progress(ui) == waits
    hold.set()
    ui.wait_for_answer()
    assert ui.texts == ["Two", "Hello there"]
    ui.window.open_chat(first)
    assert ui.texts == ["One", "Hello there"]


def test_stopping_it_leaves_the_answer_that_is_written_alone(ui: Ui, hold: threading.Event) -> None:
    hold.clear()
    ui.ask("One", wait=False)
    ui.wait_for_text("Hello")
    first = ui.page.chat_id
    ui.window.new_chat()
    ui.ask("Two", wait=False)
    ui.qtbot.waitUntil(lambda: ui.page.chat_id is not None and "Waits" in progress(ui))
    ui.press("Escape")
    ui.wait_for_answer()
    assert state_of(ui) == "stopped"
    assert first is not None
    assert ui.presenters.generation.is_answering(first)
    hold.set()
    ui.window.open_chat(first)
    ui.wait_for_answer()
    assert state_of(ui) == "complete"


def test_two_chats_are_written_at_the_same_time(ui: Ui, hold: threading.Event) -> None:
    ui.engine.says = {"answers_at_once": 2}
    hold.clear()
    ui.ask("One", wait=False)
    ui.wait_for_text("Hello")
    first = ui.page.chat_id
    ui.window.new_chat()
    ui.ask("Two", wait=False)
    ui.qtbot.waitUntil(lambda: ui.page.chat_id not in (None, first))
    ui.wait_for_text("Hello")
    assert first is not None
    assert ui.presenters.generation.is_answering(first)
    hold.set()
    ui.wait_for_answer()
    assert ui.texts == ["Two", "Hello there"]
    ui.window.open_chat(first)
    ui.wait_for_answer()
    assert ui.texts == ["One", "Hello there"]


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        (Wait("queue", count=1), "Waits for its turn: 1 answer is ahead of it"),
        (Wait("queue", count=3), "Waits for its turn: 3 answers are ahead of it"),
        (Wait("full", "Qwen", 4), "Waits for its turn: Qwen writes 4 answers at a time"),
        (Wait("model", "Qwen"), "Waits until Qwen has finished and frees its memory"),
        (Wait("loading", "Qwen"), "Waits while Qwen is being loaded"),
        (Wait("alone", "Qwen"), "Waits until Qwen has been measured"),
        (Wait("alone"), "Waits for the engine"),
    ],
)
def test_each_reason_has_its_words(wait: Wait, words: str) -> None:
    assert wait_words(wait) == words
