"""Long chats: the newest messages have widgets, and older ones get theirs on scrolling."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtWidgets import QApplication

from app.chats.history.values.conversation import Failure, StoredMessage
from app.chats.transcript.pages.message_view import FailureCard, MessageView
from app.chats.transcript.pages.transcript import FIRST, MOST, Transcript
from app.kit.widgets.label import Label
from app.markdown import parser
from tests.support.window import Ui


def chat(count: int) -> tuple[StoredMessage, ...]:
    """Return alternating questions and answers, each answer a few lines high."""
    return tuple(
        StoredMessage(
            id=f"m{number}",
            chat_id="c",
            parent_id=f"m{number - 1}" if number else None,
            role="assistant" if number % 2 else "user",
            text=f"message {number}\n\n- one\n- two\n- three",
            created=float(number),
        )
        for number in range(count)
    )


@pytest.fixture
def transcript(ui: Ui) -> Transcript:
    shown = ui.page.transcript
    ui.show_transcript()
    return shown


def live(transcript: Transcript) -> list[MessageView]:
    return list(transcript.views)


def test_a_long_chat_opens_at_its_end_with_few_live_messages(
    ui: Ui, transcript: Transcript
) -> None:
    transcript.show_messages(chat(500))
    ui.qtbot.waitUntil(lambda: len(live(transcript)) == FIRST)
    ui.settle()
    assert len(live(transcript)) == FIRST
    bar = transcript.verticalScrollBar()
    assert bar.value() == bar.maximum()
    last = live(transcript)[-1]
    assert last.message.id == "m499"
    assert last.view.accessibleName() == "Assistant, message 500 of 500"


def test_in_a_narrow_window_no_line_of_a_failure_is_cut_off(ui: Ui, transcript: Transcript) -> None:
    failure = Failure(
        code="memory",
        what="The model does not fit. " * 6,
        why="Another program has taken what was free. " * 6,
        do="Close that program, or choose a smaller model. " * 6,
    )
    question, answer = chat(2)
    transcript.show_messages((question, replace(answer, text="", state="failed", failure=failure)))
    ui.window.resize(ui.window.minimumSize())
    card = ui.find(FailureCard)

    def has_room() -> bool:
        labels = card.findChildren(Label)
        return all(label.height() >= label.heightForWidth(label.width()) for label in labels)

    ui.qtbot.waitUntil(has_room)


def test_older_messages_come_and_the_place_is_kept(ui: Ui, transcript: Transcript) -> None:
    transcript.show_messages(chat(200))
    ui.qtbot.waitUntil(lambda: len(live(transcript)) == FIRST)
    ui.settle()
    bar = transcript.verticalScrollBar()
    bar.setValue(300)
    seen = transcript.view_of("m162")
    assert seen is not None
    before = seen.mapTo(transcript, seen.rect().topLeft()).y()
    ui.qtbot.waitUntil(lambda: len(live(transcript)) > FIRST)
    ui.settle()
    assert abs(seen.mapTo(transcript, seen.rect().topLeft()).y() - before) <= 2
    assert bar.value() > 300


def test_who_reads_above_is_left_there(ui: Ui, transcript: Transcript) -> None:
    messages = chat(60)
    transcript.show_messages(messages)
    ui.qtbot.waitUntil(lambda: len(live(transcript)) == FIRST)
    ui.settle()
    bar = transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place = bar.value()
    assert ui.has("jumpToNewest")
    live(transcript)[-1].append("\n\nmore\n\nand more\n\nand more")
    live(transcript)[-1].view.show_markdown("much\n\n" * 30)
    ui.settle()
    assert bar.value() == place
    ui.click("jumpToNewest")
    assert bar.value() == bar.maximum()
    assert not ui.has("jumpToNewest")


def test_at_the_end_one_stays_at_the_end(ui: Ui, transcript: Transcript) -> None:
    transcript.show_messages(chat(20))
    ui.settle()
    bar = transcript.verticalScrollBar()
    highest = bar.maximum()
    live(transcript)[-1].view.show_markdown("much\n\n" * 30)
    ui.qtbot.waitUntil(lambda: bar.maximum() > highest)
    ui.qtbot.waitUntil(lambda: bar.value() == bar.maximum())


def test_a_chat_that_grows_does_not_keep_everything_live(ui: Ui, transcript: Transcript) -> None:
    messages = chat(MOST + 20)
    transcript.show_messages(messages[:2])
    for message in messages[2:]:
        transcript.add(message)
        QApplication.processEvents()
    assert len(live(transcript)) == MOST
    assert transcript.last() is live(transcript)[-1]


def test_another_chat_leaves_nothing_of_the_first(ui: Ui, transcript: Transcript) -> None:
    transcript.show_messages(chat(10))
    transcript.show_messages(chat(2))
    ui.qtbot.waitUntil(lambda: len(transcript.findChildren(MessageView)) == 2)


def test_keys_scroll(ui: Ui, transcript: Transcript) -> None:
    transcript.show_messages(chat(60))
    ui.settle()
    bar = transcript.verticalScrollBar()
    ui.press("Alt+Up")
    assert bar.value() < bar.maximum()
    ui.press("Alt+End")
    assert bar.value() == bar.maximum()


def test_the_parser_is_shared(transcript: Transcript, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[parser.Parser] = []

    class Counted(parser.Parser):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr(parser, "Parser", Counted)
    transcript.show_messages(chat(10))
    transcript.show_messages(chat(4))
    assert len(made) == 1
