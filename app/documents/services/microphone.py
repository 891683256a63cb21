"""The system's microphone, through miniaudio, which brings all that it needs in its wheel."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager

from app.base.errors import MicrophoneNotUsable
from app.documents.services.recording import RATE


class SystemMicrophone:
    """Opens the microphone that the system has as its usual one."""

    @contextmanager
    def opened(self, heard: Callable[[bytes], None]) -> Iterator[None]:
        """Call `heard` with samples while the block runs. Raises MicrophoneNotUsable."""
        import miniaudio

        # Without a device, the last of its backends would give silence.
        real = [it for it in miniaudio.Backend if it is not miniaudio.Backend.NULL]
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
                "The microphone cannot be used.",
                "There is none, or the system keeps it from Hearth.",
                "Connect one, or let Hearth use it in the system's settings, then try again.",
            ) from error
        with closing(device):
            device.start(_passed_on(heard))
            yield


def _passed_on(heard: Callable[[bytes], None]) -> Generator[None, bytes, None]:
    """Return what miniaudio sends samples to, begun as it wants that."""

    def receive() -> Generator[None, bytes, None]:
        while True:
            heard(bytes((yield)))

    receiver = receive()
    next(receiver)
    return receiver
