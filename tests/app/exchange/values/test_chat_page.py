"""The pictures of messages on the page of an exported chat."""

from __future__ import annotations

import base64

from app.chats.history.values.chat import Chat
from app.chats.history.values.conversation import StoredMessage
from app.documents.values.documents import AttachedFile
from app.exchange.values.chat_page import page, paper
from app.exchange.values.export import ExportedChat, ExportOptions, as_markdown
from tests.support.attached import attached_picture, attached_scan, attached_sound
from tests.support.made_media import two_colours, written

JPEG, PNG = written(two_colours(), "JPEG"), written(two_colours(), "PNG")


def exported(*files: AttachedFile) -> ExportedChat:
    message = StoredMessage(
        "m", "c", None, "user", "What is it?", 1.0, attachments=tuple(it.attachment for it in files)
    )
    return ExportedChat(
        Chat("c", "A chat", 1.0, 1.0, "m"), [message], documents=[it.document for it in files]
    )


def test_a_picture_stands_on_the_page_and_needs_no_other_file() -> None:
    told = exported(
        attached_picture('<"photo">.jpg', JPEG, 640, 480), attached_picture("b.png", PNG, 30, 20)
    )
    written_page = page([told], ExportOptions("html"))
    for data, form in ((JPEG, "jpeg"), (PNG, "png")):
        assert f"data:image/{form};base64,{base64.b64encode(data).decode()}" in written_page
    assert 'alt="&lt;&quot;photo&quot;&gt;.jpg"' in written_page
    assert 'width="420"' in written_page
    assert 'width="30"' in written_page
    assert "img-src data:" in written_page, "nothing is loaded from elsewhere"


def test_what_cannot_be_shown_is_named() -> None:
    told = exported(attached_sound("song.mp3", b"x"), attached_scan("scan.pdf", JPEG))
    written_page = paper(told, ExportOptions("pdf"), lambda _latex, _inline: "")
    assert "<img" not in written_page
    assert "Attached: song.mp3, scan.pdf" in written_page


def test_a_picture_that_was_left_out_of_an_import_is_named() -> None:
    told = exported(attached_picture("photo.jpg", b""))
    assert "<img" not in page([told], ExportOptions("html"))
    assert "Attached: photo.jpg" in as_markdown(told.chat, told.messages)
