"""Reading documents of each kind, with the places of their words."""

from __future__ import annotations

import hashlib
import io
from datetime import date
from email.message import EmailMessage
from pathlib import Path

import pytest
from openpyxl import Workbook
from PIL import Image

from app.documents.reading.limits import Limits
from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import (
    Document,
    DocumentKind,
    Location,
    LocationKind,
    Section,
    TextSpan,
)
from engines.cancel import CancelToken
from tests.app.documents.reading.conftest import Read
from tests.support import made_documents as made
from tests.support import made_media as media


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def titles(document: Document) -> list[str]:
    return [section.place.title for section in document.sections]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32", "cp1252"])
def test_a_text_is_read_in_the_encodings_that_are_in_use(
    read: Read, tmp_path: Path, encoding: str
) -> None:
    text = "Größe: 12 m²\nzweite Zeile – Ende"
    document = read(written(tmp_path / "a.txt", text.replace("\n", "\r\n").encode(encoding)))
    assert (document.kind, document.text) == (DocumentKind.TEXT, text)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_text_in_utf_16_needs_no_mark(read: Read, tmp_path: Path, encoding: str) -> None:
    text = "Größe: 12 m², nicht 13\nzweite Zeile"
    assert read(written(tmp_path / "a.txt", text.encode(encoding))).text == text


def test_a_text_of_lines_in_two_encodings_is_read(read: Read, tmp_path: Path) -> None:
    data = "Größe\n".encode() + "Maß\n".encode("cp1252")
    assert read(written(tmp_path / "a.txt", data)).text == "Größe\nMaß"


def test_a_document_tells_its_files_hash_and_size(read: Read, tmp_path: Path) -> None:
    path = written(tmp_path / "a.py", "print(1)\n")
    document = read(path)
    assert document.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert document.size == 9


def test_a_csv_keeps_its_lines(read: Read, tmp_path: Path) -> None:
    document = read(written(tmp_path / "a.csv", "Ort;Menge\nUlm;3\n"))
    assert (document.kind, document.text) == (DocumentKind.CSV, "Ort;Menge\nUlm;3")


def test_markdown_is_divided_at_headings_but_not_at_comments_in_code(
    read: Read, tmp_path: Path
) -> None:
    text = "Before\n\n# One\n\ntext\n\n```sh\n# no heading\n```\n\n## Two ##\nmore\n"
    document = read(written(tmp_path / "a.md", text))
    assert titles(document) == ["", "One", "Two"]
    assert document.sections[1].text == "One\n\ntext\n\n```sh\n# no heading\n```"
    assert document.sections[1].place == Location(LocationKind.HEADING, 2, "One")


def test_html_is_read_as_it_is_shown(read: Read, tmp_path: Path) -> None:
    page = (
        "<!DOCTYPE html><html><head><title>T</title><style>p{}</style></head><body>"
        "<p>One\n  <b>two</b><script>no()</script></p><h2>Ship<i>ping</i></h2>"
        "<ul><li>a<li>b</ul><table><tr><td>1<td>2</table><pre>x\n  y</pre>&auml;&lt;"
    )
    document = read(written(tmp_path / "a.html", page))
    assert titles(document) == ["", "Shipping"]
    assert document.sections[0].text == "One two"
    lines = document.sections[1].text.split()
    assert lines == ["Shipping", "-", "a", "-", "b", "1", "|", "2", "x", "y", "ä<"]
    assert "x\n  y" in document.sections[1].text


def test_what_html_hides_is_not_read(read: Read, tmp_path: Path) -> None:
    """A person cannot see it, but a model would obey it."""
    page = (
        '<p>shown</p><div style="display: none">one<div>two</div>three</div>'
        "<p hidden>four<p>seen<br hidden> too</p>"
        '<p style="font-size:0"><b style="font-size:13px">as in many e-mails</b></p>'
    )
    assert (
        read(written(tmp_path / "a.html", page)).text == "shown\n\nseen\ntoo\n\nas in many e-mails"
    )


def test_html_in_another_encoding_is_read_as_it_declares(read: Read, tmp_path: Path) -> None:
    page = '<html><head><meta charset="iso-8859-2"></head><body>Łódź</body></html>'
    assert read(written(tmp_path / "a.htm", page.encode("iso-8859-2"))).text == "Łódź"


def test_a_pdf_is_read_page_by_page(read: Read, tmp_path: Path) -> None:
    path = made.pdf(tmp_path / "a.pdf", [["First page", "has two lines"], ["Zweite Größe"]])
    document = read(path)
    assert [section.text for section in document.sections] == [
        "First page\nhas two lines",
        "Zweite Größe",
    ]
    assert document.sections[1].place == Location(LocationKind.PAGE, 2)
    assert not document.scanned


def test_a_word_that_is_divided_in_a_pdf_keeps_its_hyphen(read: Read, tmp_path: Path) -> None:
    path = made.pdf(tmp_path / "a.pdf", [["an exam-", "ple of E-", "Mail"]])
    assert read(path).text == "an exam-\nple of E-\nMail"


def test_a_scan_is_named_as_one(read: Read, tmp_path: Path) -> None:
    document = read(made.pdf(tmp_path / "a.pdf", [[], []]))
    assert document.is_scan
    assert document.scanned == (1, 2)


def test_the_first_pages_of_a_scan_are_kept_as_pictures(tmp_path: Path) -> None:
    path = made.pdf(tmp_path / "a.pdf", [[], ["Text"], [], []])
    document = DocumentReader(Limits(pages=2, page_pixels=10_000)).read(path, CancelToken())
    assert document.scanned == (1, 3, 4)
    assert [it.number for it in document.pages] == [1, 3]
    for page in document.pages:
        picture = Image.open(io.BytesIO(page.data), formats=["JPEG"])
        assert picture.size == (page.width, page.height)
        assert 9_000 < page.width * page.height < 11_000


def test_a_docx_of_pictures_alone_is_a_scan(read: Read, tmp_path: Path) -> None:
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/image"
    shown = {
        f"word/media/image{number}.png": media.written(media.two_colours(10 + number), "PNG")
        for number in (10, 9)
    } | {"word/media/image1.emf": b"no picture that is read"}
    rels = "".join(
        f'<Relationship Id="r{at}" Type="{relation}" Target="{name.removeprefix("word/")}"/>'
        for at, name in enumerate(shown)
    )
    parts = {
        "word/document.xml": f'<w:document xmlns:w="{made.W}"><w:body><w:p/></w:body></w:document>',
        "word/_rels/document.xml.rels": f'<Relationships xmlns="{made.RELATIONS}">{rels}'
        "</Relationships>",
    }
    document = read(made.archive(tmp_path / "a.docx", {**parts, **shown}))
    assert document.is_scan
    assert [(it.number, it.width) for it in document.pages] == [(1, 19), (2, 20)]
    text = read(made.docx(tmp_path / "b.docx", made.paragraph("Words")))
    assert not text.scanned


def test_a_page_that_is_a_picture_is_told_among_others(read: Read, tmp_path: Path) -> None:
    document = read(made.pdf(tmp_path / "a.pdf", [["Text"], []]))
    assert not document.is_scan
    assert document.scanned == (2,)


def test_a_docx_is_divided_at_its_headings_in_any_language(read: Read, tmp_path: Path) -> None:
    row = "".join(f"<w:tc>{made.paragraph(cell)}</w:tc>" for cell in ("Ulm", "3"))
    body = (
        made.paragraph("Vorwort")
        + made.paragraph("Preise", "berschrift1")
        + f"<w:tbl><w:tr>{row}</w:tr></w:tbl>"
        + "<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t></w:r>"
        + "<w:del><w:r><w:delText>gone</w:delText></w:r></w:del>"
        + "<mc:AlternateContent><mc:Choice><w:t>once</w:t></mc:Choice><mc:Fallback><w:tc/>"
        + "<w:t>once</w:t></mc:Fallback></mc:AlternateContent></w:p>"
    )
    notes = f'<w:footnotes xmlns:w="{made.W}">{made.paragraph("Eine Fußnote")}</w:footnotes>'
    document = read(made.docx(tmp_path / "a.docx", body, footnotes=notes))
    assert titles(document) == ["", "Preise", "Footnotes"]
    assert document.sections[0].text == "Vorwort"
    assert document.sections[1].text == "Preise\n\nUlm  | 3 \na\tbonce"
    assert document.sections[2].text == "(footnotes)\n\nEine Fußnote"


def test_raised_numbers_are_read_as_such(read: Read, tmp_path: Path) -> None:
    """Otherwise 10² would be read as 102."""
    page = "<p>10<sup>2</sup> kN, 10<sup>-9</sup>, the 4<sup>th</sup></p>"
    assert read(written(tmp_path / "a.html", page)).text == "10² kN, 10⁻⁹, the 4th"
    run = "<w:r><w:rPr><w:vertAlign w:val='superscript'/></w:rPr><w:t>2</w:t></w:r>"
    body = f"<w:p><w:r><w:t>10</w:t></w:r>{run}<w:r><w:t> kN</w:t></w:r></w:p>"
    assert read(made.docx(tmp_path / "a.docx", body)).text == "10² kN"


def test_words_that_a_docx_hides_or_has_moved_are_not_read(read: Read, tmp_path: Path) -> None:
    hidden = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>secret</w:t></w:r>"
    moved = "<w:moveFrom><w:r><w:t>moved</w:t></w:r></w:moveFrom>"
    body = f"<w:p>{hidden}{moved}<w:r><w:t>shown</w:t></w:r></w:p>"
    assert read(made.docx(tmp_path / "a.docx", body)).text == "shown"


def test_an_xlsx_shows_its_cells_as_a_person_sees_them(read: Read, tmp_path: Path) -> None:
    book = Workbook()
    sheet = book.active
    sheet.title = "Umsatz"
    sheet.append(["Tag", "Menge", "Anteil", "Gut"])
    sheet.append([date(2026, 3, 1), 1234.5, 0.125, True])
    sheet["C2"].number_format = "0.0%"
    book.create_sheet("Leer")
    book.save(tmp_path / "a.xlsx")
    document = read(tmp_path / "a.xlsx")
    assert titles(document) == ["Umsatz", "Leer"]
    shown = "Tag\tMenge\tAnteil\tGut\n2026-03-01\t1234.5\t12.5%\tTRUE"
    assert document.sections[0].text == shown


def test_a_formula_without_a_result_is_shown_itself(read: Read, tmp_path: Path) -> None:
    book = Workbook()
    book.active.append(["Summe", "=1+2"])
    book.active.append([5.5])
    book.active["A2"].number_format = '0.0"%"'  # looks like a percentage
    book.save(tmp_path / "a.xlsx")
    assert read(tmp_path / "a.xlsx").text == "Summe\t=1+2\n5.5%"


def test_a_pptx_is_read_in_the_order_of_its_slides_with_notes(read: Read, tmp_path: Path) -> None:
    slides = [("Ende", "Danke", "leise"), ("Anfang", "Hallo", "laut")]
    document = read(made.pptx(tmp_path / "a.pptx", slides))
    assert titles(document) == ["Anfang", "Ende"]
    assert document.sections[0].text == "Anfang\nHallo\n\n(notes)\nlaut"


def test_an_epub_is_read_in_its_reading_order(read: Read, tmp_path: Path) -> None:
    pages = {
        "z": "<html><head><title>Start</title></head><body><p>one</p></body></html>",
        "a": "<html><body><h1>Then</h1><p>two</p></body></html>",
    }
    document = read(made.epub(tmp_path / "a.epub", pages))
    assert titles(document) == ["Start", "Then"]
    assert [section.text for section in document.sections] == ["one", "Then\n\ntwo"]


def message(subject: str, body: str) -> EmailMessage:
    made = EmailMessage()
    made["From"], made["To"], made["Subject"] = "Ana <ana@example.org>", "b@example.org", subject
    made.set_content(body)
    return made


def test_an_email_is_read_with_its_headers_and_the_names_of_attachments(
    read: Read, tmp_path: Path
) -> None:
    mail = message("Grüße", "Schöne Größe\n")
    mail.add_attachment(b"\0", maintype="application", subtype="pdf", filename="plan.pdf")
    document = read(written(tmp_path / "a.eml", bytes(mail)))
    assert document.sections[0].place == Location(LocationKind.MESSAGE, 1, "Grüße")
    assert document.text == (
        "From: Ana <ana@example.org>\nTo: b@example.org\nSubject: Grüße\n"
        "Attachments: plan.pdf (not read)\n\nSchöne Größe"
    )


def test_an_email_that_is_html_alone_is_read_as_it_is_shown(read: Read, tmp_path: Path) -> None:
    mail = EmailMessage()
    mail.set_content("<p>One <b>two</b></p>", subtype="html")
    assert read(written(tmp_path / "a.eml", bytes(mail))).text == "One two"


def test_an_email_with_headers_and_words_that_make_no_sense_is_read(
    read: Read, tmp_path: Path
) -> None:
    data = b'From: =?utf-8?b?!!!!?= <\x00@>\nTo: a@[1.2.3\nCc: "unclosed <a@b\nSubject: ok\n\nhello'
    text = read(written(tmp_path / "a.eml", data)).text
    assert text.startswith("From: ")
    assert text.endswith("Subject: ok\n\nhello")
    garbage = b"Subject: ok\nContent-Transfer-Encoding: base64\n\n!!!@@@===AAA\xff\n"
    text = read(written(tmp_path / "b.eml", garbage)).text
    assert text == "Subject: ok\n\n(The text of this message cannot be read.)"


def test_each_message_of_an_mbox_is_a_place(read: Read, tmp_path: Path) -> None:
    first = b"From a@b Thu Jan  1 00:00:00 2026\n" + bytes(message("One", ">From here\nFrom us\n"))
    second = b"\nFrom c@d Thu Jan  1 00:00:00 2026\n" + bytes(message("Two", "second\n"))
    document = read(written(tmp_path / "a.mbox", first + second))
    assert titles(document) == ["One", "Two"]
    assert document.sections[0].text.endswith("\n\nFrom here\nFrom us")


def test_a_file_is_known_by_its_content_rather_than_by_its_name(read: Read, tmp_path: Path) -> None:
    path = made.pdf(tmp_path / "a.txt", [["Text"]])
    assert read(path).kind is DocumentKind.PDF


def test_the_places_of_any_part_of_the_text_are_found() -> None:
    pages = tuple(Location(LocationKind.PAGE, number) for number in (1, 2, 3))
    texts = ("abc", "", "defg")
    sections = tuple(Section(place, text) for place, text in zip(pages, texts, strict=True))
    document = Document(DocumentKind.PDF, "", 0, sections)
    start = document.text.index("c")
    assert list(document.spans(start, document.text.index("e") + 1)) == [
        TextSpan(pages[0], 2, 3),
        TextSpan(pages[2], 0, 2),
    ]


IMAGE = b"q 612 0 0 792 0 0 cm /I Do Q "


@pytest.mark.parametrize(
    ("content", "is_scanned"),
    [
        (IMAGE, True),
        (IMAGE + made.column(["Scanned with an app"], 72, 12), True),
        (
            IMAGE
            + made.column(["A page with a background, and with words of its own"] * 3, 72, 12),
            False,
        ),
        (b"q 80 0 0 80 50 700 cm /I Do Q " + made.column(["With a logo"], 72, 12), False),
        (b"0 0 m 9 9 l S " * 200, True),
        (b"0 0 m 9 9 l S ", False),
        (b"", False),
    ],
)
def test_a_page_that_shows_more_than_its_text_is_told(
    read: Read, tmp_path: Path, content: bytes, is_scanned: bool
) -> None:
    """The page is scanned, stamped or lettered with shapes; blank pages and logos do not count."""
    words = made.column(["Words on the first page"], 72, 12)
    document = read(made.pdf_of(tmp_path / "a.pdf", [words, content]))
    assert document.scanned == ((2,) if is_scanned else ())
    assert document.reading == ("partly_read" if is_scanned else "read")


def test_a_file_without_anything_is_told(read: Read, tmp_path: Path) -> None:
    assert read(written(tmp_path / "a.txt", b" \n")).reading == "empty"
    assert read(made.docx(tmp_path / "a.docx", "<w:p/>")).reading == "empty"
    assert read(made.pdf_of(tmp_path / "a.pdf", [b""])).reading == "empty"
    assert read(written(tmp_path / "b.txt", "x")).reading == "read"
