"""An answer that repeats itself is ended; one that only looks like it is not."""

from __future__ import annotations

from collections.abc import Generator
from itertools import count

import pytest

from engines.cancel import CancelToken
from engines.repetition import NOTE, RepetitionWatch, ending_loops
from engines.types import (
    ChatRequest,
    Done,
    Event,
    Message,
    MtpReport,
    ReasoningDelta,
    TextDelta,
    Timing,
    Usage,
)

REQUEST = ChatRequest((Message("user", "Go on."),))


def found_after(text: str, piece: int = 5) -> int | None:
    """Return how many characters had come when it was noticed; None if it never was."""
    watch = RepetitionWatch()
    for at in range(0, len(text), piece):
        if watch.feed(text[at : at + piece]):
            return at + piece
    return None


@pytest.mark.parametrize(
    "run",
    [
        "The capital of France is Paris. ",
        "I am sorry.\n",
        "ha ",
        "Ich weiß es nicht. 🙂 ",
        "He said that she said that " * 3 + "they said so. ",
        "A whole paragraph that comes again. It has several sentences, and each of them is the"
        " same as before, down to the last full stop.\n\n" * 3 + "And this one between.\n\n",
    ],
)
@pytest.mark.parametrize("piece", [1, 7, 300])
def test_the_same_run_again_and_again_is_noticed_soon(run: str, piece: int) -> None:
    before = "Let me think about this for a moment, as it is not quite so easy to say.\n\n"
    noticed = found_after(before + run * 600, piece)

    assert noticed is not None
    assert noticed <= len(before) + max(1_000, 9 * len(run)) + 256 + piece


def numbered(line: str) -> str:
    return "".join(line.format(number) for number in range(1_000))


@pytest.mark.parametrize(
    "text",
    [
        numbered("{}. The next item of the list.\n"),
        numbered("Chapter {} begins where the one before it ended. "),
        numbered("x[{0}] = y[{0}]\n"),
        numbered("| {} | a cell | another |\n"),
        "```\n" + "    result.append(0)\n" * 200 + "```\n",
        "~~~python\nvalues = [\n" + "0, " * 1_500 + "]\n~~~\n",
        "A table:\n\n| a | b |\n|---|---|\n" + "| 0 | 0 |\n" * 400,
        "A list:\n\n" + "- to do\n" * 400,
        "-" * 4_000,
        "No. " * 60,
        "The end of a short poem comes again.\n" * 12,
    ],
)
def test_what_only_looks_alike_is_left_alone(text: str) -> None:
    assert found_after(text) is None


def test_code_that_never_ends_is_ended_at_last() -> None:
    noticed = found_after("```\n" + "    result.append(0)\n" * 2_000)

    assert noticed is not None
    assert noticed > 8_000


def endless(kind: type[TextDelta | ReasoningDelta], seen: list[int]):  # type: ignore[no-untyped-def]
    """Return a chat like an engine's: it writes until it is cancelled, and reports the end."""

    def chat(request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        try:
            for number in count():
                seen.append(number)
                if cancel.cancelled:
                    yield done("cancelled")
                    return
                yield kind("The same line. ")
        finally:
            seen.append(-1)

    return chat


def done(reason: str) -> Done:
    report = MtpReport("off", active=False, reason="", kind="none")
    return Done(reason, Usage(1, 0, 1, 64), Timing(0, 0, 0, 0), report, 1, ("Said before.",))  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [TextDelta, ReasoningDelta])
def test_the_answer_is_ended_with_its_own_reason_and_a_note(
    kind: type[TextDelta | ReasoningDelta],
) -> None:
    seen: list[int] = []
    *texts, last = ending_loops(endless(kind, seen), REQUEST, CancelToken())

    assert isinstance(last, Done)
    assert last.finish_reason == "repetition"
    assert last.notes == ("Said before.", NOTE)
    assert 1_000 <= 15 * len(texts) < 1_600
    assert seen[-1] == -1


def test_who_stops_it_is_not_told_that_it_repeated_itself() -> None:
    cancel = CancelToken()
    events = ending_loops(endless(TextDelta, []), REQUEST, cancel)
    next(events)
    cancel.cancel()
    *_, last = events

    assert isinstance(last, Done)
    assert last.finish_reason == "cancelled"


def test_who_leaves_early_ends_the_engine_too() -> None:
    seen: list[int] = []
    events = ending_loops(endless(TextDelta, seen), REQUEST, CancelToken())
    next(events)
    events.close()

    assert seen[-1] == -1
