"""Recording from a made microphone: the length, the end and errors."""

from __future__ import annotations

import io
import wave
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import miniaudio
import pytest

from app.base.errors import MicrophoneNotUsable, NothingHeard
from app.documents.services.microphone import SystemMicrophone
from app.documents.services.recording import RATE, Recorder, RecordingProgress
from engines.cancel import CancelToken

SECOND = b"\x01\x02" * RATE


@dataclass
class MadeMicrophone:
    """A microphone that delivers these samples as soon as it is opened."""

    samples: bytes
    opened_times: int = 0
    is_open: bool = False

    @contextmanager
    def opened(self, heard: Callable[[bytes], None]) -> Iterator[None]:
        self.opened_times, self.is_open = self.opened_times + 1, True
        try:
            heard(self.samples)
            yield
        finally:
            self.is_open = False


def test_a_recording_ends_when_it_is_stopped_and_is_a_wav() -> None:
    microphone, stop = MadeMicrophone(SECOND * 2), CancelToken()
    found: list[RecordingProgress] = []
    for news in Recorder(microphone).record(stop):
        found.append(news)
        stop.cancel()
    assert [it.seconds for it in found] == [2.0, 2.0]
    with wave.open(io.BytesIO(found[-1].sound)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE)
        assert file.readframes(file.getnframes()) == SECOND * 2
    assert not microphone.is_open


def test_a_recording_ends_by_itself_when_it_is_as_long_as_it_may_be() -> None:
    *_, last = Recorder(MadeMicrophone(SECOND * 5), most_s=3).record(CancelToken())
    assert last.seconds == 3.0
    assert last.sound


def test_the_microphone_is_closed_by_who_leaves_early() -> None:
    microphone = MadeMicrophone(SECOND)
    recording = Recorder(microphone).record(CancelToken())
    next(recording)
    assert microphone.is_open
    recording.close()  # type: ignore[attr-defined]
    assert not microphone.is_open


def test_silence_of_a_muted_microphone_is_named() -> None:
    stop = CancelToken()
    stop.cancel()
    with pytest.raises(NothingHeard, match="muted"):
        list(Recorder(MadeMicrophone(bytes(100))).record(stop))


class _Device:
    """A stand-in for miniaudio's device that sends one sample when started."""

    def __init__(self, **asked: object) -> None:
        self.asked = asked
        self.closed = 0
        made.append(self)

    def start(self, receiver: object) -> None:
        receiver.send(b"\x01\x00")  # type: ignore[attr-defined]

    def close(self) -> None:
        self.closed += 1


made: list[_Device] = []


def test_the_systems_microphone_is_opened_without_one_that_is_made_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(miniaudio, "CaptureDevice", _Device)
    made.clear()
    heard: list[bytes] = []
    with SystemMicrophone().opened(heard.append):
        assert heard == [b"\x01\x00"]
    (device,) = made
    assert device.closed == 1
    assert (device.asked["nchannels"], device.asked["sample_rate"]) == (1, RATE)
    assert miniaudio.Backend.NULL not in device.asked["backends"]  # type: ignore[operator]


def test_a_computer_without_a_microphone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(**_: object) -> SimpleNamespace:
        raise miniaudio.MiniaudioError("failed to init device", -401)

    monkeypatch.setattr(miniaudio, "CaptureDevice", none)
    with pytest.raises(MicrophoneNotUsable), SystemMicrophone().opened(lambda _: None):
        pass
