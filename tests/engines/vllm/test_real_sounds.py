"""A real vLLM with a model that hears: sounds in each format, and files that are no sound.

Their rate is the model's own: the build for processors is without torchaudio, which changes rates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace

import pytest

from engines.cancel import CancelToken
from engines.errors import EngineError
from engines.media import sound_seconds
from engines.types import ChatRequest, LoadedModel, Medium, PromptReady, VllmOptions
from engines.vllm.engine import FIRST_PART_NOTE, VllmEngine
from engines.vllm.provision.home import Installed
from tests.engines.contract import ask, done_of, run, text_of
from tests.engines.vllm.faked import PLAN, make_engine
from tests.engines.vllm.hearing import CONTEXT, sound_tokens, write_qwen2_audio
from tests.support.made_media import flac, mp3_16k, wav

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(400),
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]

MARKS = 2
"""The tokens around a sound."""


def about(*sounds: bytes) -> ChatRequest:
    """Return a question with sounds before its text."""
    request = ask("What is said?")
    media = tuple(Medium("audio", it, hashlib.sha256(it).hexdigest()) for it in sounds)
    return replace(request, messages=(replace(request.messages[0], media=media),))


@pytest.fixture(scope="module")
def loaded(
    vllm: Installed, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[VllmEngine, LoadedModel]]:
    if not vllm.hears:
        pytest.skip("this vLLM was installed without what reads sounds")
    folder = tmp_path_factory.mktemp("hearing")
    model = write_qwen2_audio(folder / "hears")
    engine = make_engine(vllm, folder / "worker", silent_s=300)
    plan = replace(PLAN, model=model, context=CONTEXT, options=VllmOptions(sounds=True))
    report = engine.load(plan, lambda _: None, CancelToken())
    yield engine, report
    engine.close()


def prompt_tokens(engine: VllmEngine, *sounds: bytes) -> int:
    events = run(engine, about(*sounds))
    assert text_of(events)
    assert done_of(events).usage.completion_tokens
    assert isinstance(events[0], PromptReady)
    return events[0].prompt_tokens


def test_the_report_says_that_it_hears(loaded: tuple[VllmEngine, LoadedModel]) -> None:
    _, report = loaded
    assert (report.sees, report.hears) == (False, True)


@pytest.mark.parametrize(
    "sound",
    [wav(2.0), flac(10), mp3_16k(100)],
    ids=["WAV", "FLAC", "MP3"],
)
def test_a_sound_is_heard_by_its_length(
    loaded: tuple[VllmEngine, LoadedModel], sound: bytes
) -> None:
    engine, _ = loaded
    seconds = sound_seconds(sound)
    assert seconds is not None
    more = prompt_tokens(engine, sound) - prompt_tokens(engine)
    assert more == pytest.approx(MARKS + sound_tokens(seconds), abs=1)


def test_two_sounds_and_what_is_in_them(loaded: tuple[VllmEngine, LoadedModel]) -> None:
    engine, _ = loaded
    tone, silence = wav(2.56), flac(10)
    one, other = prompt_tokens(engine, tone), prompt_tokens(engine, silence)
    assert one == other
    plain = prompt_tokens(engine)
    assert prompt_tokens(engine, tone, silence) - plain == 2 * (one - plain)
    assert text_of(run(engine, about(tone))) != text_of(run(engine, about(silence)))


def test_of_a_long_sound_the_first_part_is_heard_and_that_is_said(
    loaded: tuple[VllmEngine, LoadedModel],
) -> None:
    engine, _ = loaded
    assert prompt_tokens(engine, wav(31.0)) == prompt_tokens(engine, wav(30.0))
    notes = [done_of(run(engine, about(wav(seconds)))).notes for seconds in (31.0, 30.0)]
    assert [FIRST_PART_NOTE in it for it in notes] == [True, False]


def test_what_is_no_sound_is_refused_and_the_worker_stays(
    loaded: tuple[VllmEngine, LoadedModel],
) -> None:
    engine, _ = loaded
    worker = engine.worker
    with pytest.raises(EngineError) as caught:
        run(engine, about(b"RIFF" + bytes(40)))
    assert all((caught.value.what, caught.value.why, caught.value.do))
    assert prompt_tokens(engine, wav(1.0))
    assert engine.worker is worker
