"""The system's microphone, through miniaudio, whose wheel contains everything it needs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager

from app.base.errors import MicrophoneNotUsable
from app.documents.services.recording import RATE
from engines.sentences import N_


class SystemMicrophone:
    """The system's default microphone."""

    @contextmanager
    def opened(self, on_sound: Callable[[bytes], None]) -> Iterator[None]:
        """Call `heard` with samples during the block. Raises MicrophoneNotUsable."""
        import miniaudio

        # Without a device, the null backend would return silence.
        real = [backend for backend in miniaudio.Backend if backend is not miniaudio.Backend.NULL]
        try:
            device = miniaudio.CaptureDevice(
                input_format=miniaudio.SampleFormat.SIGNED16,
                nchannels=1,
                sample_rate=RATE,
                backends=real,
                app_name="Hearth",
            )
        except miniaudio.MiniaudioError as error:
            raise MicrophoneNotUsable(
                N_("The microphone cannot be used."),
                N_("There is none, or the system does not let Hearth use it."),
                N_("Connect one, or let Hearth use it in the system's settings, then try again."),
            ) from error
        with closing(device):
            device.start(_passed_on(on_sound))
            yield


def _passed_on(on_sound: Callable[[bytes], None]) -> Generator[None, bytes, None]:
    """Return a started generator that miniaudio sends samples to."""

    def receive() -> Generator[None, bytes, None]:
        while True:
            on_sound(bytes((yield)))

    receiver = receive()
    next(receiver)
    return receiver
