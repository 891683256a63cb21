"""Pictures and sounds in the prompts of llama.cpp, with made models of real architectures."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Final

import pytest

import run as setup
from engines.cancel import CancelToken
from engines.errors import MediaUnsupported, MediumUnreadable, MtpUnavailable
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.native import load_native
from engines.llamacpp.probe import Probe
from engines.llamacpp.resume.states import StateFolder
from engines.types import (
    ChatRequest,
    Event,
    LlamaPlan,
    Medium,
    Message,
    TextDelta,
    TokenLogprob,
)
from tests.engines.asking import GREEDY, answer, ask, done_of, run, text_of
from tests.engines.llamacpp.conftest import Load
from tests.support.made_senses import (
    gemma4_projector,
    png,
    qwen3a_projector,
    qwen3vl_projector,
    sensing_tokens,
    wav,
    write_gemma4,
    write_qwen3vl,
)
from tests.support.mtp_models import write_qwen
from tests.support.paths import ROOT
from tests.support.suite import sampled

PROGRAM: Final = ROOT / ".cache/bench/llama-server/build/bin" / f"llama-mtmd-cli{setup.EXE}"
"""The place where tests/bench/build_server.py builds llama.cpp's program for media."""

_TRIES: Final = 4

QUESTION: Final = "What is it?"

TIE: Final = 0.02
"""Tokens whose log probabilities are closer may change places.

A batch of several answers is summed in another order, which was seen to change them by 0.003.
"""


@dataclass(frozen=True)
class Senses:
    """A model, its projector, and files that it takes."""

    model: Path
    projector: Path
    media: tuple[Path, ...]


@pytest.fixture(scope="session")
def senses(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Senses]:
    """Return models that see or hear: Qwen positions have parts, Gemma reads a picture at once."""
    folder = tmp_path_factory.mktemp("senses")
    pictures = tuple(folder / f"{name}.png" for name in ("one", "other"))
    for number, picture in enumerate(pictures):
        picture.write_bytes(png(320, 240, seed=3 * number))
    (tone := folder / "tone.wav").write_bytes(wav(1.5))
    (higher := folder / "higher.wav").write_bytes(wav(2.5, pitch=660))
    deep = write_qwen3vl(folder / "qwen3vl.gguf")
    plain = write_qwen3vl(folder / "plain.gguf", deepstack=0)
    hybrid = write_qwen(folder / "qwen35.gguf", context=0.6, tokens=sensing_tokens())
    gemma = write_gemma4(folder / "gemma4.gguf")
    eyes = qwen3vl_projector(folder / "mmproj-plain.gguf", deepstack=0)
    both = gemma4_projector(folder / "mmproj-gemma4.gguf", ears=True)
    deep_eyes = qwen3vl_projector(folder / "mmproj-qwen3vl.gguf")
    ears = qwen3a_projector(folder / "mmproj-qwen3a.gguf")
    return {
        "qwen3vl": Senses(deep, deep_eyes, pictures),
        "qwen35": Senses(hybrid, eyes, pictures),
        "gemma4": Senses(gemma, both, pictures),
        "gemma4 ears": Senses(gemma, both, (tone, higher)),
        "qwen3a": Senses(plain, ears, (tone, higher)),
    }


SEEING: Final = ("qwen3vl", "qwen35", "gemma4")
SENSING: Final = (*SEEING, "gemma4 ears", "qwen3a")
SAMPLED: Final = sampled(SENSING, ("qwen3vl", "gemma4 ears"))

Sense = Callable[..., LlamaCppEngine]


@pytest.fixture
def sense(load: Load, senses: dict[str, Senses]) -> Sense:
    """Return a function that loads one of them by its name.

    sense("qwen3vl", parallel=2)
    """

    def make(name: str, **plan: object) -> LlamaCppEngine:
        its = senses[name]
        return load(its.model, **{"projector": its.projector, "context": 2048} | plan)

    return make


def medium_of(data: bytes | Path, at: int = 0) -> Medium:
    data = data.read_bytes() if isinstance(data, Path) else data
    heard = data[:4] in (b"RIFF", b"fLaC") or data[:3] == b"ID3"
    return Medium("audio" if heard else "image", data, sha256(data).hexdigest(), at)


def shown(*media: Medium | Path, text: str = QUESTION, **options: object) -> ChatRequest:
    """Return a question with pictures or sounds."""
    given = tuple(it if isinstance(it, Medium) else medium_of(it) for it in media)
    message = replace(ask(text).messages[0], media=given)
    return replace(ask(text, max_tokens=12), messages=(message,), **options)  # type: ignore[arg-type]


def evaluated(events: list[Event]) -> int:
    usage = done_of(events).usage
    return usage.prompt_tokens - usage.cached_tokens


def cells_of(engine: LlamaCppEngine, medium: Medium) -> int:
    """Return the number of tokens of a medium, including the markers around it."""
    assert engine.chat_model.projector is not None
    return len(engine.chat_model.projector.tokens(medium))


def asked_more(asked: ChatRequest, said: str) -> ChatRequest:
    """Return the same chat one turn later."""
    more = (Message("assistant", said), Message("user", "Go on."))
    return replace(asked, messages=(*asked.messages, *more))


def end_of_medium(engine: LlamaCppEngine, asked: ChatRequest) -> int:
    """Return the number of tokens of a prompt up to the end of its first medium."""
    first = engine.chat_model.prompter.write(asked).media[0]
    return first.start + cells_of(engine, first.medium)


def by_the_program(its: Senses, *media: Path, text: str = QUESTION) -> str:
    """Return the greedy answer of llama-mtmd-cli.

    One of its threads prints the answer, and does not always finish before the program ends, so
    this is the longest of several runs.
    """
    command = [
        str(PROGRAM), "-m", str(its.model), "--mmproj", str(its.projector), "--jinja",
        "--image", ",".join(map(str, media)), "-p", text, "-n", "12", "--temp", "0", "-t", "1",
        "-c", "2048", "-b", "512", "-ub", "512",
    ]  # fmt: skip
    environment = os.environ | {"LD_LIBRARY_PATH": str(load_native().folder)}
    said = (
        subprocess.run(command, env=environment, check=True, capture_output=True, timeout=60)
        for _ in range(_TRIES)
    )
    return max((it.stdout.decode().strip("\n") for it in said), key=len)


def drawn(events: list[Event]) -> list[TokenLogprob]:
    """Return the tokens of an answer that was requested with their probabilities."""
    return [token for it in events if isinstance(it, TextDelta) for token in it.logprobs]


def assert_same_but_for_ties(tokens: list[TokenLogprob], expected: list[TokenLogprob]) -> None:
    """Check that two answers have the same tokens, up to the first tie."""
    for token, other in zip(tokens, expected, strict=False):
        if token.token != other.token:
            first, second = other.likeliest
            assert first.logprob - second.logprob < TIE
            assert token.token == second.token
            return
    assert len(tokens) == len(expected)


@pytest.mark.parametrize("name", SENSING)
def test_its_answer_is_that_of_llamas_own_program(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    if not PROGRAM.exists():
        pytest.skip("there is no llama-mtmd-cli; tests/bench/build_server.py builds it")
    engine, its = sense(name), senses[name]
    for media in ((its.media[0],), (its.media[1],), its.media):
        assert answer(engine, shown(*media)).strip("\n") == by_the_program(its, *media)


@pytest.mark.parametrize("name", SENSING)
def test_what_is_shown_makes_the_answer_another(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    engine, (one, other) = sense(name), senses[name].media
    answers = {answer(engine, shown(*media)) for media in ((), (one,), (other,))}
    assert len(answers) == 3


@pytest.mark.parametrize("name", SENSING)
def test_the_same_medium_is_not_evaluated_again_and_another_is(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    engine, (one, other) = sense(name), senses[name].media
    first = run(engine, shown(one))
    assert evaluated(run(engine, shown(one))) == 1
    again = run(engine, shown(one, text="And where?"))
    assert evaluated(again) < 20
    assert evaluated(run(engine, shown(other))) > cells_of(engine, medium_of(other))
    assert text_of(run(engine, shown(one))) == text_of(first)


@pytest.mark.parametrize("name", SENSING)
def test_the_next_turn_goes_on_behind_the_picture_and_its_answer(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    engine, its = sense(name), senses[name]
    asked = shown(its.media[0], max_tokens=30)
    events = run(engine, asked_more(asked, answer(engine, asked)))
    assert done_of(events).usage.cached_tokens >= end_of_medium(engine, asked)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_chat_with_a_picture_goes_on_from_disk(
    load: Load, senses: dict[str, Senses], name: str, tmp_path: Path
) -> None:
    its = senses[name]
    plan = {"projector": its.projector, "context": 2048}
    asked = shown(its.media[0], chat="one")
    engine = load(its.model, StateFolder(tmp_path, 1 << 28), **plan)
    more = asked_more(asked, answer(engine, asked))
    engine.close()
    engine = load(its.model, StateFolder(tmp_path, 1 << 28), **plan)
    events = run(engine, more)
    assert done_of(events).usage.cached_tokens >= end_of_medium(engine, asked)
    engine.close()
    afresh = load(its.model, **plan)
    assert answer(afresh, more) == text_of(events)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_restored_picture_is_the_one_that_was_kept(
    load: Load, senses: dict[str, Senses], name: str, tmp_path: Path
) -> None:
    its = senses[name]
    plan = {"projector": its.projector, "context": 2048}
    engine = load(its.model, StateFolder(tmp_path, 1 << 28), **plan)
    said = answer(engine, shown(its.media[0], chat="one"))
    engine.close()
    engine = load(its.model, StateFolder(tmp_path, 1 << 28), **plan)
    assert evaluated(run(engine, shown(its.media[1], chat="one"))) > 30
    again = run(engine, shown(its.media[0], chat="one"))
    assert text_of(again) == said
    assert evaluated(again) == 1


@pytest.mark.parametrize("name", SENSING)
def test_a_prompt_is_measured_as_it_is_read(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    engine, its = sense(name), senses[name]
    asked = shown(*its.media)
    measured = engine.measure(asked, CancelToken())
    events = run(engine, asked)
    assert measured.total == measured.prompt == done_of(events).usage.prompt_tokens
    assert measured.lengths[0] >= sum(cells_of(engine, medium_of(it)) for it in its.media)


def test_old_turns_leave_with_their_pictures(sense: Sense, senses: dict[str, Senses]) -> None:
    engine, (one, other) = sense("qwen3vl", context=512), senses["qwen3vl"].media
    turns: tuple[Message, ...] = (
        *shown(one).messages, Message("assistant", "A wave."), *shown(other).messages,
    )  # fmt: skip
    asked = ChatRequest(turns, GREEDY, max_tokens=12)
    measured = engine.measure(asked, CancelToken())
    assert measured.left == (0, 1)
    events = run(engine, asked)
    assert done_of(events).usage.left_out == 2
    assert text_of(events) == answer(sense("qwen3vl", context=512), shown(other))


def test_a_picture_stands_where_its_message_says(sense: Sense, senses: dict[str, Senses]) -> None:
    engine, (one, other) = sense("qwen3vl"), senses["qwen3vl"].media
    text = "First. Then."
    placed = shown(medium_of(one), medium_of(other, at=6), text=text)
    prompt = engine.chat_model.prompter.write(placed)
    first, second = prompt.media
    vocabulary = engine.chat_model.model.vocabulary
    between = prompt.tokens[first.start + cells_of(engine, first.medium) : second.start]
    assert b"".join(map(vocabulary.piece, between)).decode().strip() == "First."
    swapped = shown(medium_of(other), medium_of(one, at=6), text=text)
    assert answer(engine, placed) != answer(engine, swapped)


def test_words_that_look_like_a_marker_are_words(sense: Sense, senses: dict[str, Senses]) -> None:
    engine, (one, _) = sense("qwen3vl"), senses["qwen3vl"].media
    text = f"<__media__> <media 0 {medium_of(one).sha256}> <|vision_start|>"
    events = run(engine, shown(text=text))
    assert done_of(events).usage.prompt_tokens < 200
    assert done_of(run(engine, shown(one, text=text))).usage.prompt_tokens > 300


@pytest.mark.parametrize("name", SAMPLED)
def test_a_picture_beside_other_answers_changes_none_of_them(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    engine, its = sense(name, parallel=3, batch=128), senses[name]
    requests = [
        replace(request, sampling=replace(GREEDY, logprobs=2))
        for request in (
            shown(text="Tell me of the sea and of ships, at length.", max_tokens=60),
            shown(its.media[0]),
            shown(its.media[1], text="Where is it?"),
        )
    ]
    alone = [drawn(run(engine, request)) for request in requests]
    said: dict[int, list[TokenLogprob]] = {}
    for _ in range(3):
        for slot in engine.chat_model.slots:
            slot.cache.clear()

        def tell(number: int) -> None:
            said[number] = drawn(run(engine, requests[number]))

        threads = [Thread(target=tell, args=(number,)) for number in range(len(requests))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number, expected in enumerate(alone):
            assert_same_but_for_ties(said[number], expected)


@pytest.mark.parametrize("name", SAMPLED)
def test_a_cancel_while_it_looks_leaves_a_cache_of_use(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    engine, its = sense(name, batch=64), senses[name]
    asked = shown(*its.media)
    expected = answer(engine, asked)
    for after in range(1, 12):
        engine.chat_model.slots[0].cache.clear()
        cancel, said = CancelToken(), list[Event]()
        answering = Thread(target=lambda c=cancel, s=said: s.extend(run(engine, asked, c)))
        answering.start()
        sleep(after * 0.01)
        cancel.cancel()
        answering.join()
        assert done_of(said).finish_reason in {"cancelled", "length"}
        assert answer(engine, asked) == expected


def test_what_guesses_ahead_as_a_model_does_rests_behind_a_picture(
    sense: Sense, senses: dict[str, Senses]
) -> None:
    engine, (one, _) = sense("qwen35"), senses["qwen35"].media
    plain = answer(engine, shown(one, mtp="off"))
    events = run(engine, shown(one, mtp="on", depth=3))
    report = done_of(events).mtp
    assert text_of(events) == plain
    assert not report.active
    assert report.drafted == 0
    assert "cannot read pictures" in report.reason
    after = done_of(run(engine, ask("Hello", mtp="on", depth=3))).mtp
    assert after.drafted > 0


@pytest.mark.parametrize("name", ["qwen3vl", "gemma4", "qwen3a"])
def test_drafts_from_the_text_change_no_token_behind_a_picture(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    engine, its = sense(name), senses[name]
    same = "one two three four five six. " * 6
    asked = shown(*its.media, text=same, max_tokens=60)
    plain = answer(engine, replace(asked, mtp="off"))
    assert answer(engine, replace(asked, mtp="on", depth=4)) == plain


@pytest.mark.parametrize("name", ["qwen3vl", "qwen3a"])
def test_drafts_from_the_text_are_checked_behind_a_picture_too(
    sense: Sense, senses: dict[str, Senses], name: str
) -> None:
    check = sense(name).check_mtp(
        shown(*senses[name].media, text="one two three. " * 9, max_tokens=40), 3, CancelToken()
    )
    assert check.identical
    assert check.tokens == 40


def test_what_rests_behind_a_picture_is_not_compared_there(
    sense: Sense, senses: dict[str, Senses]
) -> None:
    with pytest.raises(MtpUnavailable, match="cannot read pictures"):
        sense("qwen35").check_mtp(shown(senses["qwen35"].media[0]), 3, CancelToken())


def test_a_model_without_a_projector_says_that_it_does_not_see(
    load: Load, senses: dict[str, Senses]
) -> None:
    engine = load(senses["qwen3vl"].model)
    for picture in senses["qwen3vl"].media:
        with pytest.raises(MediaUnsupported, match="cannot see") as raised:
            run(engine, shown(picture))
        assert all((raised.value.what, raised.value.why, raised.value.do))
    with pytest.raises(MediaUnsupported):
        engine.measure(shown(senses["qwen3vl"].media[0]), CancelToken())
    assert answer(engine, ask("Hello"))


def test_a_model_that_only_sees_says_that_it_does_not_hear(
    sense: Sense, senses: dict[str, Senses]
) -> None:
    engine = sense("qwen3vl")
    with pytest.raises(MediaUnsupported, match="cannot hear"):
        run(engine, shown(senses["qwen3a"].media[0]))


def hostile() -> dict[str, bytes]:
    picture, tone = png(64, 64), wav(0.5)
    flac_of_years = b"fLaC" + bytes(14) + ((1 << 44) | (1 << 36) - 1).to_bytes(8, "big") + bytes(40)
    slow = bytearray(tone)
    struct.pack_into("<I", slow, 24, 1)
    struct.pack_into("<I", slow, 28, 1)
    return {
        "nothing": b"",
        "words": b"This is no picture.",
        "a picture cut off": picture[: len(picture) // 2],
        "the first bytes of a picture": picture[:20],
        "a picture as wide as a street": picture[:16] + struct.pack(">II", 1 << 30, 1 << 30),
        "a picture without height": picture[:16] + struct.pack(">II", 64, 0) + picture[24:],
        "a sound cut off": tone[:1000],
        "a sound of years": flac_of_years,
        "a sound that stands still": bytes(slow),
        "a sound of one sample": wav(0.0001),
        "a picture as long as a street": png(9000, 8),
        "a page of the web": b"RIFF\0\0\0\0WEBPVP8 " + bytes(40),
    }


@pytest.mark.parametrize("what", hostile())
def test_bytes_that_are_no_picture_are_an_error_and_nothing_worse(sense: Sense, what: str) -> None:
    engine, data = sense("gemma4"), hostile()[what]
    for kind in ("image", "audio"):
        medium = replace(medium_of(data), kind=kind)
        with pytest.raises(MediumUnreadable) as raised:
            run(engine, shown(medium))
        assert all((raised.value.what, raised.value.why, raised.value.do))
    assert answer(engine, ask("Hello"))


def damaged(folder: Path, senses: dict[str, Senses]) -> dict[str, Path]:
    whole = senses["qwen3vl"].projector.read_bytes()
    (cut := folder / "cut.gguf").write_bytes(whole[: len(whole) // 2])
    (words := folder / "words.gguf").write_bytes(b"This is no model.")
    return {
        "cut off": cut,
        "no model at all": words,
        "of another model": senses["gemma4"].projector,
        "of an unknown kind": qwen3vl_projector(folder / "new.gguf", kind="telescope"),
        "that ends the process": qwen3vl_projector(folder / "bad.gguf", heads=0),
        "that is not there": folder / "gone.gguf",
        "that is a chat model": senses["qwen3vl"].model,
    }


KINDS: Final = (
    "cut off", "no model at all", "of another model", "of an unknown kind", "that ends the process",
    "that is not there", "that is a chat model",
)  # fmt: skip


@pytest.mark.parametrize(
    "kind", sampled(KINDS, ("cut off", "that ends the process", "that is not there"))
)
def test_a_projector_that_fails_costs_the_pictures_and_not_the_chat(
    senses: dict[str, Senses], tmp_path: Path, kind: str
) -> None:
    """It is tried in another process first: some of these end the process that opens them."""
    its = senses["qwen3vl"]
    projector = damaged(tmp_path, senses)[kind]
    engine = LlamaCppEngine(probe=Probe())
    plan = LlamaPlan(its.model, 1024, 1, 1, projector=projector)
    report = engine.load(plan, lambda _: None, CancelToken())
    try:
        assert not report.sees
        assert not report.hears
        (note,) = report.notes
        assert note.startswith("This model cannot take pictures or sounds. ")
        assert note.endswith(".")
        assert answer(engine, ask("Hello"))
        with pytest.raises(MediaUnsupported):
            run(engine, shown(its.media[0]))
    finally:
        engine.close()


def test_a_projector_is_tried_with_a_picture_before_it_is_trusted(
    senses: dict[str, Senses],
) -> None:
    engine = LlamaCppEngine(probe=Probe())
    for name in SENSING:
        its = senses[name]
        plan = LlamaPlan(its.model, 1024, 1, 1, projector=its.projector)
        report = engine.load(plan, lambda _: None, CancelToken())
        assert report.notes == ()
        assert (report.sees, report.hears) == (name != "qwen3a", "gemma" in name or "3a" in name)
    engine.close()
