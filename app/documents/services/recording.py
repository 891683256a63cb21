"""Records from the microphone, as a file that engines accept."""

from __future__ import annotations

import io
import queue
import wave
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final, Protocol

from app.base.errors import NothingHeard
from engines.cancel import CancelToken
from engines.sentences import N_

RATE: Final = 16_000
"""Samples per second: the rate that speech models are trained on."""

MOST_S: Final = 600.0
"""Maximum length of a recording, in seconds; models process longer ones only in parts."""

_LOOK_S: Final = 0.1
_WIDTH: Final = 2
"""Bytes of a sample."""


class Microphone(Protocol):
    """Opens the system's microphone; see `app.documents.services.microphone`."""

    def opened(self, on_sound: Callable[[bytes], None]) -> AbstractContextManager[None]:
        """Call `heard` with 16-bit samples at `RATE` as they come, while it is open.

        `heard` is called from any thread. Raises MicrophoneNotUsable.
        """
        ...


@dataclass(frozen=True)
class RecordingProgress:
    """The progress of a recording.

    Attributes:
        seconds: Its length so far.
        sound: All of it as a WAV file, once it has ended.
    """

    seconds: float
    sound: bytes = b""


class Recorder:
    """Owns the microphone while it records, and always closes it. Qt-free."""

    def __init__(self, microphone: Microphone, most_s: float = MOST_S) -> None:
        self._microphone = microphone
        self._most = int(most_s * RATE) * _WIDTH

    def record(self, stop: CancelToken) -> Iterator[RecordingProgress]:
        """Record until `stop` is set or the maximum is reached; yield the sound at the end.

        Raises MicrophoneNotUsable and NothingHeard.
        """
        pieces: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        samples = bytearray()
        with self._microphone.opened(pieces.put):
            while len(samples) < self._most and not stop.wait(_LOOK_S):
                _drain(pieces, samples)
                yield RecordingProgress(_seconds(samples))
        _drain(pieces, samples)
        del samples[self._most :]
        if not any(samples):
            raise NothingHeard(
                N_("Nothing was recorded."),
                N_(
                    "The microphone gave no sound: it is muted, or the system does not let Hearth "
                    "use it."
                ),
                N_("Check the microphone in the system's settings, then record again."),
            )
        yield RecordingProgress(_seconds(samples), _wav(samples))


def _drain(pieces: queue.SimpleQueue[bytes], samples: bytearray) -> None:
    while not pieces.empty():
        samples += pieces.get()


def _seconds(samples: bytearray) -> float:
    return len(samples) / _WIDTH / RATE


def _wav(samples: bytearray) -> bytes:
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(_WIDTH)
        file.setframerate(RATE)
        file.writeframes(samples)
    return written.getvalue()
