"""Documents as JSON and back, and dividing passages."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.documents.values.documents import (
    AttachedFile,
    Attachment,
    DocumentKind,
    attachment_from,
    document_from,
    document_values,
    halves,
)
from tests.support.attached import attached, attached_picture, attached_scan, attached_sound

PHOTO = attached_picture("photo.jpg", b"\xff\xd8\xff\x00", 640, 480)
SONG = attached_sound("song.mp3", b"ID3\x00", 61.5)
SCAN = attached_scan("scan.pdf", b"one\x00", b"two\x00")


@pytest.mark.parametrize("file", [PHOTO, SONG, SCAN, attached("a.txt", "Words")])
def test_a_document_goes_through_json_and_back(file: AttachedFile) -> None:
    values = json.loads(json.dumps(document_values(file.document)))
    assert document_from(values) == file.document


def test_what_was_kept_before_there_were_pictures_can_be_read() -> None:
    document = attached("a.txt", "Words").document
    values = document_values(document)
    for name in ("media", "width", "height", "seconds", "pages"):
        del values[name]
    assert document_from(values) == document
    told = {"name": "a.txt", "sha256": "a" * 64, "kind": "text", "size": 1, "places": 1}
    attachment = attachment_from({**told, "scanned": 0})
    assert attachment == Attachment("a.txt", "a" * 64, DocumentKind.TEXT, 1, 1)


@pytest.mark.parametrize("said", [{"media": "no Base64!"}, {"pages": [{"number": 0}]}])
def test_what_makes_no_sense_is_refused(said: dict[str, object]) -> None:
    with pytest.raises((ValueError, KeyError)):
        document_from({**document_values(PHOTO.document), **said})


def test_a_chip_knows_how_large_a_picture_and_how_long_a_sound_is() -> None:
    photo, song = PHOTO.attachment, SONG.attachment
    assert (photo.kind, photo.width, photo.height) == (DocumentKind.IMAGE, 640, 480)
    assert (song.kind, song.seconds) == (DocumentKind.AUDIO, 61.5)


def test_engines_get_a_picture_or_a_sound_with_the_hash_of_its_bytes() -> None:
    photo, song = PHOTO.document.medium, SONG.document.medium
    assert photo is not None
    assert song is not None
    assert (photo.kind, photo.data, photo.sha256) == (
        "image",
        PHOTO.document.media,
        PHOTO.document.sha256,
    )
    assert song.kind == "audio"
    assert [it.medium.data for it in SCAN.document.pages] == [b"one\x00", b"two\x00"]
    assert attached("a.txt", "Words").document.medium is None
    assert replace(PHOTO.document, media=b"").medium is None


def test_a_passage_is_divided_in_the_middle_and_a_short_one_is_not() -> None:
    first, second = halves("word " * 200)
    assert first + second == "word " * 200
    assert abs(len(first) - len(second)) <= 2 * len("word ")
    assert halves("字" * 900) == ("字" * 450, "字" * 450)
    for whole in ("short", "word " * 100, "x" * 600 + " " * 300):
        assert halves(whole) == (whole, whole)
