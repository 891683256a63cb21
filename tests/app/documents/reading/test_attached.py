"""E-mail attachments: read by the reader for their kind, or listed as not read."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest
from openpyxl import Workbook

from app.documents.citations.values import CitationCheck
from app.documents.values.documents import (
    AttachedFile,
    LocationKind,
    PromptSource,
    Unread,
    prompt_text,
)
from tests.app.documents.reading.conftest import Read
from tests.support import made_documents as made
from tests.support import made_media as media


def mail(subject: str = "Offer", body: str = "See the files.\n") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["Subject"] = "Ana <ana@example.org>", subject
    message.set_content(body)
    return message


def saved(path: Path, message: EmailMessage) -> Path:
    path.write_bytes(bytes(message))
    return path


def attach(message: EmailMessage, path: Path, name: str = "") -> None:
    message.add_attachment(
        path.read_bytes(),
        maintype="application",
        subtype="octet-stream",
        filename=name or path.name,
    )


@pytest.fixture
def offer(tmp_path: Path) -> Path:
    message = mail()
    attach(message, made.pdf(tmp_path / "my offer.pdf", [["Cover"], ["The rent is 950 euros"]]))
    book = Workbook()
    book.active.append(["Deposit", 2850])
    book.save(tmp_path / "sums.xlsx")
    attach(message, tmp_path / "sums.xlsx")
    attach(message, made.docx(tmp_path / "rules.docx", made.paragraph("No smoking at all")))
    return saved(tmp_path / "a.eml", message)


def test_attachments_are_read_with_their_places(read: Read, offer: Path) -> None:
    document = read(offer)
    assert [(it.place.kind, it.place.title) for it in document.sections] == [
        (LocationKind.MESSAGE, "Offer"),
        (LocationKind.ATTACHMENT, "my offer.pdf, page 1"),
        (LocationKind.ATTACHMENT, "my offer.pdf, page 2"),
        (LocationKind.ATTACHMENT, "sums.xlsx, sheet 1"),
        (LocationKind.ATTACHMENT, "rules.docx, section 1"),
    ]
    assert "Attachments: my offer.pdf, sums.xlsx, rules.docx\n" in document.sections[0].text
    assert document.sections[3].text == "Deposit\t2850"
    assert document.unread == ()
    told = prompt_text(
        "?", [PromptSource("file", "a.eml", document.sha256)], {document.sha256: document}
    )
    assert "(attachment my offer.pdf, page 2)\nThe rent is 950 euros" in told


@pytest.mark.parametrize(
    ("named", "verdict"),
    [
        ("my offer.pdf, page 2", "found"),
        ("a.eml", "found"),
        ("my offer.pdf, page 1", "elsewhere"),
        ("sums.xlsx", "elsewhere"),
    ],
)
def test_a_quote_of_an_attachment_is_held_against_its_place(
    read: Read, offer: Path, named: str, verdict: str
) -> None:
    check = CitationCheck([AttachedFile("a.eml", read(offer))])
    (found,) = check.check(f"“The rent is 950 euros” ({named}).")
    assert found.verdict == verdict


def test_what_is_not_read_of_attachments_is_named(read: Read, tmp_path: Path) -> None:
    message = mail()
    attach(message, made.pdf(tmp_path / "scan.pdf", [[], []]))
    attach(message, made.pdf(tmp_path / "half.pdf", [["Words"], []]))
    attach(message, made.locked_pdf(tmp_path / "locked.pdf", [["Secret"]]))
    message.add_attachment(
        media.written(media.two_colours(10), "PNG"),
        maintype="image",
        subtype="png",
        filename="a.png",
    )
    message.add_attachment(
        b"PK\x03\x04 no zip", maintype="application", subtype="zip", filename="a.zip"
    )
    message.add_attachment(b"", maintype="application", subtype="pdf", filename="none.pdf")
    document = read(saved(tmp_path / "a.eml", message))
    assert (
        "Attachments: scan.pdf (not read: a picture), half.pdf (1 pages not read: pictures),"
        " locked.pdf (not read), a.png (not read), a.zip (not read), none.pdf (empty)\n"
    ) in document.text
    assert document.unread == (Unread.ATTACHMENTS,)


def test_messages_in_messages_are_read_and_end(read: Read, tmp_path: Path) -> None:
    message = mail("deepest", "the bottom\n")
    for number in range(6):
        outer = mail(f"level {number}")
        outer.add_attachment(message)
        message = outer
    document = read(saved(tmp_path / "a.eml", message))
    assert document.sections[1].place.title == "level 4.eml, message 1"
    assert "level 2" in document.text
    assert "the bottom" not in document.text
    assert document.unread == (Unread.ATTACHMENTS,)


def test_messages_of_a_file_keep_their_numbers(read: Read, tmp_path: Path) -> None:
    first, second = mail("One"), mail("Two")
    first.add_attachment("all of it", filename="a.txt")
    line = b"From a@b Thu Jan  1 00:00:00 2026\n"
    (tmp_path / "a.mbox").write_bytes(line + bytes(first) + b"\n" + line + bytes(second))
    document = read(tmp_path / "a.mbox")
    assert [(it.place.number, it.place.title) for it in document.sections] == [
        (1, "One"),
        (2, "Two"),
        (3, "a.txt"),
    ]


def test_a_text_below_the_message_belongs_to_it(read: Read, tmp_path: Path) -> None:
    message = mail()
    message.add_attachment(b"\0\1\2\3", maintype="application", subtype="x", filename="a.bin")
    message.attach(mail(body="Sent to the list.\n"))
    last = message.get_payload(2)
    assert isinstance(last, EmailMessage)
    for name in ("From", "Subject"):
        del last[name]
    assert "See the files.\n\nSent to the list." in read(saved(tmp_path / "a.eml", message)).text


def test_many_attachments_are_read_up_to_a_number(read: Read, tmp_path: Path) -> None:
    message = mail()
    for number in range(102):
        message.add_attachment(f"text {number}", filename=f"{number}.txt")
    document = read(saved(tmp_path / "a.eml", message))
    assert len(document.sections) == 101
    assert "100.txt (not read), 101.txt (not read)" in document.sections[0].text
