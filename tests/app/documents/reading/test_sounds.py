"""Reading sounds: checked frame by frame, and stripped of titles and covers."""

from __future__ import annotations

import io
import wave
from pathlib import Path

import pytest

from app.base.errors import DocumentNotRead
from app.documents.reading.faults import Fault
from app.documents.reading.limits import Limits
from app.documents.reading.reader import DocumentReader, refused
from app.documents.values.documents import Document, DocumentKind
from engines.cancel import CancelToken
from tests.support.made_media import MP3_FRAME_S, flac, mp3, wav


def read(folder: Path, content: bytes, limits: Limits | None = None) -> Document:
    path = folder / "sound"
    path.write_bytes(content)
    return DocumentReader(limits).read(path, CancelToken())


def fault_of(folder: Path, content: bytes, limits: Limits | None = None) -> Fault:
    with pytest.raises(DocumentNotRead) as raised:
        read(folder, content, limits)
    return next(it for it in Fault if refused("sound", it).why == raised.value.why)


@pytest.mark.parametrize(
    ("content", "seconds"),
    [
        (wav(1.5), 1.5),
        (wav(0.25, 44_100, 2), 0.25),
        (mp3(40), 40 * MP3_FRAME_S),
        (flac(8), 8 * 4096 / 16_000),
        (flac(8, told=0), 8 * 4096 / 16_000),
    ],
)
def test_a_sound_stays_as_it_is(tmp_path: Path, content: bytes, seconds: float) -> None:
    document = read(tmp_path, content)
    assert document.kind is DocumentKind.AUDIO
    assert document.seconds == pytest.approx(seconds)
    assert document.media == content
    assert document.sections == ()


def test_titles_and_covers_are_left_out(tmp_path: Path) -> None:
    told = b"SecretSinger" * 9
    plain = wav(0.1)
    riff = plain[:12] + b"LIST" + len(told).to_bytes(4, "little") + told + plain[12:] + b"LIST"
    assert read(tmp_path, riff).media == plain
    tagged = b"ID3\x04\x00\x00\x00\x00\x00\x6c" + told + mp3(4) + b"TAG" + told
    assert read(tmp_path, tagged).media == mp3(4)
    block = b"\x04" + len(told).to_bytes(3, "big") + told
    comment = flac(2).replace(b"fLaC\x80", b"fLaC\x00")
    comment = comment[:42] + b"\x84" + block[1:] + comment[42:]
    assert read(tmp_path, comment).media == flac(2)


def test_a_recording_that_broke_off_lasts_as_long_as_it_was_written(tmp_path: Path) -> None:
    whole = wav(1.0)
    document = read(tmp_path, whole[: len(whole) // 2])
    assert document.seconds == pytest.approx(0.5, abs=0.01)
    with wave.open(io.BytesIO(document.media)) as file:
        assert file.getnframes() == pytest.approx(8000, abs=30)


@pytest.mark.parametrize("told", [4096, 100 * 4096])
def test_a_sound_that_lies_about_its_length_is_damaged(tmp_path: Path, told: int) -> None:
    assert fault_of(tmp_path, flac(8, told)) is Fault.DAMAGED


@pytest.mark.parametrize("content", [wav(2), mp3(100), flac(10)])
def test_a_sound_that_lasts_too_long_is_refused(tmp_path: Path, content: bytes) -> None:
    assert fault_of(tmp_path, content, Limits(sound_seconds=1)) is Fault.LASTS
    assert fault_of(tmp_path, content, Limits(sound_bytes=80)) is Fault.LASTS


@pytest.mark.parametrize("beginning", [b"OggS", b"\0\0\0\x20ftypM4A ", b"FORM", b"#!AMR"])
def test_sounds_of_other_kinds_are_named_as_such(tmp_path: Path, beginning: bytes) -> None:
    assert fault_of(tmp_path, beginning + bytes(100)) is Fault.SOUND


@pytest.mark.parametrize(
    "content",
    [
        wav(0.1)[:30],
        wav(0.0),
        wav(0.1).replace(b"fmt ", b"fmtx"),
        b"ID3\x04\x00\x00\x00\x00\x00\x00" + bytes(1000),
        flac(2)[:20],
        flac(0),
        b"fLaC\x00\xff\xff\xff",
    ],
)
def test_a_sound_that_makes_no_sense_is_damaged(tmp_path: Path, content: bytes) -> None:
    assert fault_of(tmp_path, content) is Fault.DAMAGED


def test_a_wav_of_numbers_that_nobody_knows_is_named_as_such(tmp_path: Path) -> None:
    assert fault_of(tmp_path, wav(0.1).replace(b"\x10\0\0\0\x01\0", b"\x10\0\0\0\x55\0")) is (
        Fault.SOUND
    )


def test_a_text_in_utf_16_is_no_sound(tmp_path: Path) -> None:
    document = read(tmp_path, "Herd und Ofen, auch für später.".encode("utf-16"))
    assert document.text == "Herd und Ofen, auch für später."
