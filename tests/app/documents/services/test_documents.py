"""Attached and imported files: read again before an engine gets them; photos leave no copies."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.chats.history.store.chats import ChatStore
from app.documents.reading.reader import DocumentReader
from app.documents.services.documents import Documents
from app.documents.store.documents import FileCopies
from app.documents.values.documents import AttachedFile, Document
from app.exchange.services.reading import read_files
from app.exchange.values.export import as_json
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.support.attached import attached, attached_picture, attached_scan, attached_sound
from tests.support.made_media import two_colours, wav, with_metadata, written

JPEG = written(two_colours(), "JPEG")


@pytest.fixture
def documents(tmp_path: Path) -> Documents:
    return Documents(DocumentReader(), FileCopies(tmp_path / "attachments"))


def test_a_photo_is_not_copied_beside_the_database(documents: Documents, tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    path.write_bytes(written(two_colours(), "JPEG", exif=with_metadata()))
    file = documents.read(path, CancelToken())
    documents.save_copies([(path, file)])
    assert documents.copy_of(file.document.sha256) is None
    assert not (tmp_path / "attachments").exists()


def test_what_is_no_file_can_be_read(documents: Documents) -> None:
    file = documents.read_data("sent.jpg", JPEG, CancelToken())
    assert (file.name, file.document.media) == ("sent.jpg", JPEG)


@pytest.mark.parametrize(
    "file", [attached_picture("a.jpg", JPEG), attached_sound("b.wav", wav(0.1))]
)
def test_a_picture_or_sound_of_an_import_stays_as_it_is(
    documents: Documents, file: AttachedFile
) -> None:
    assert documents.checked(file.document, CancelToken()) == file.document


@pytest.mark.parametrize("media", [b"no picture", JPEG[:90], wav(0.1), b"%PDF-1.4"])
def test_a_picture_of_an_import_that_is_none_is_left_out(
    documents: Documents, media: bytes
) -> None:
    checked = documents.checked(attached_picture("a.jpg", media).document, CancelToken())
    assert checked.media == b""
    assert checked.medium is None


def test_pages_of_an_import_are_read_anew(documents: Documents) -> None:
    scan = attached_scan("a.pdf", JPEG, b"no page").document
    assert [it.number for it in documents.checked(scan, CancelToken()).pages] == [1]


def test_a_text_of_an_import_takes_no_reading() -> None:
    class NoReader:
        def read(self, path: Path, cancel: CancelToken, name: str = "") -> Document:
            raise AssertionError(path, cancel, name)

    document = attached("a.txt", "Words").document
    assert Documents(NoReader(), FileCopies(None)).checked(document, CancelToken()) == document


def exported(tmp_path: Path, file: AttachedFile) -> Path:
    database = Database(tmp_path / "chats.db")
    chats = ChatStore(database)
    question, _ = chats.ask(None, "What is it?", files=[file])
    chat = chats.chat(question.chat_id)
    text = as_json(chat, chats.messages(chat.id), "", chats.documents(chat.id))
    database.close()
    path = tmp_path / "chat.json"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_chat_that_hearth_exported_comes_back_with_its_picture(
    documents: Documents, tmp_path: Path
) -> None:
    file = attached_picture("photo.jpg", JPEG)
    (found,) = read_files([exported(tmp_path, file)], CancelToken(), documents.checked)
    assert found.chats[0].documents == (file.document,)


def test_a_chat_that_was_tampered_with_comes_without_its_picture(
    documents: Documents, tmp_path: Path
) -> None:
    path = exported(tmp_path, attached_picture("photo.jpg", JPEG))
    value = json.loads(path.read_text(encoding="utf-8"))
    value["documents"][0]["media"] = "aGFybWZ1bA=="
    path.write_text(json.dumps(value), encoding="utf-8")
    (found,) = read_files([path], CancelToken(), documents.checked)
    assert [it.media for it in found.chats[0].documents] == [b""]
    assert found.chats[0].messages[0].attachments[0].name == "photo.jpg"


def test_checking_can_be_cancelled(documents: Documents) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        documents.checked(replace(attached_picture("a.jpg", JPEG).document), cancel)
