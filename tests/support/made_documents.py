"""Make documents to read: small ones of each kind, and hostile ones."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
RELATIONS = "http://schemas.openxmlformats.org/package/2006/relationships"
A = "http://schemas.openxmlformats.org/drawingml/2006/main"
P = "http://schemas.openxmlformats.org/presentationml/2006/main"
CONTAINER = "urn:oasis:names:tc:opendocument:xmlns:container"
MC = "http://schemas.openxmlformats.org/markup-compatibility/2006"

BOMB = (
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "ha">'
    + "".join(
        f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    + "]><a>&i;</a>"
)
"""Entities that expand to 200 million characters."""


def archive(path: Path, parts: Mapping[str, str | bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return path


def docx(path: Path, body: str, **more: str) -> Path:
    styles = "".join(
        f'<w:style w:styleId="{identifier}"><w:name w:val="{name}"/></w:style>'
        for identifier, name in {"berschrift1": "heading 1", "Standard": "Normal"}.items()
    )
    return archive(
        path,
        {
            "[Content_Types].xml": "<Types/>",
            "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:mc="{MC}"><w:body>{body}'
            "</w:body></w:document>",
            "word/styles.xml": f'<w:styles xmlns:w="{W}">{styles}</w:styles>',
            **{f"word/{name}.xml": content for name, content in more.items()},
        },
    )


def paragraph(text: str, style: str = "") -> str:
    tabs = '<w:tabs><w:tab w:val="left"/></w:tabs>'
    properties = f'<w:pPr>{tabs}<w:pStyle w:val="{style}"/></w:pPr>'
    return f"<w:p>{properties}<w:r><w:t>{text}</w:t></w:r></w:p>"


def pptx(path: Path, slides: Sequence[tuple[str, str, str]]) -> Path:
    """Write a presentation of slides: title, text and notes. It shows the last slide first."""
    numbers = range(1, len(slides) + 1)
    ids = "".join(f'<p:sldId id="{255 + n}" r:id="rId{n}"/>' for n in reversed(numbers))
    parts: dict[str, str] = {
        "ppt/presentation.xml": f'<p:presentation xmlns:p="{P}" xmlns:r="{R}"><p:sldIdLst>{ids}'
        "</p:sldIdLst></p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(
            (f"rId{n}", "slide", f"slides/slide{n}.xml") for n in numbers
        ),
    }
    for n, (title, text, notes) in zip(numbers, slides, strict=True):
        parts[f"ppt/slides/slide{n}.xml"] = slide(("title", title), ("body", text), ("sldNum", "7"))
        parts[f"ppt/slides/_rels/slide{n}.xml.rels"] = relations(
            [("rId1", "notesSlide", f"../notesSlides/notes{n}.xml")]
        )
        parts[f"ppt/notesSlides/notes{n}.xml"] = slide(("body", notes))
    return archive(path, parts)


def slide(*shapes: tuple[str, str]) -> str:
    shown = "".join(
        f'<p:sp><p:nvPr><p:ph type="{kind}"/></p:nvPr>'
        f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp>"
        for kind, text in shapes
    )
    return f'<p:sld xmlns:p="{P}" xmlns:a="{A}">{shown}</p:sld>'


def relations(found: Iterable[tuple[str, str, str]]) -> str:
    listed = "".join(
        f'<Relationship Id="{identifier}" Type="{R}/{kind}" Target="{target}"/>'
        for identifier, kind, target in found
    )
    return f'<Relationships xmlns="{RELATIONS}">{listed}</Relationships>'


def epub(path: Path, pages: Mapping[str, str], encrypted: str = "") -> Path:
    items = "".join(
        f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"/>'
        for name in sorted(pages)
    )
    order = "".join(f'<itemref idref="{name}"/>' for name in pages)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": f'<container xmlns="{CONTAINER}"><rootfiles>'
        '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
        "OEBPS/book.opf": f'<package xmlns="http://www.idpf.org/2007/opf"><manifest>{items}'
        f"</manifest><spine>{order}</spine></package>",
        **{f"OEBPS/text/{name}.xhtml": page for name, page in pages.items()},
    }
    if encrypted:
        parts["META-INF/encryption.xml"] = (
            '<encryption><CipherReference xmlns="http://www.w3.org/2001/04/xmlenc#" '
            f'URI="{encrypted}"/></encryption>'
        )
    return archive(path, parts)


def pdf(path: Path, pages: Sequence[Sequence[str]], extra: bytes = b"") -> Path:
    """Write a PDF whose pages are lines of text in Helvetica; a page without lines is a picture."""
    contents = []
    for lines in pages:
        if lines:
            contents.append(column(lines, 72, 12) + extra)
        else:
            contents.append(b"q 500 0 0 700 50 50 cm /I Do Q")
    return pdf_of(path, contents)


def column(lines: Sequence[str], left: int, size: int) -> bytes:
    """Return the operators that draw lines of text below each other, at a left margin."""
    shown = b"".join(b"(" + escaped(line) + b") Tj T*\n" for line in lines)
    return b"BT /F %d Tf %d TL %d 720 Td\n" % (size, size + 2, left) + shown + b"ET\n"


def pdf_of(path: Path, contents: Sequence[bytes]) -> Path:
    """Write a PDF whose pages have these contents.

    /F is Helvetica with ligatures, and /I is a picture.
    """
    objects: list[bytes] = []

    def add(content: bytes) -> int:
        objects.append(content)
        return len(objects)

    def stream(content: bytes, entries: bytes = b"") -> int:
        head = b"<<" + entries + b"/Length %d>>\nstream\n" % len(content)
        return add(head + content + b"\nendstream")

    add(b"<</Type/Catalog/Pages 2 0 R>>")
    add(b"")
    font = add(
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding"
        b"<</Type/Encoding/BaseEncoding/WinAnsiEncoding/Differences[1/fi/fl]>>>>"
    )
    picture = stream(
        b"\x80",
        b"/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray",
    )
    kids = []
    for content in contents:
        body = stream(content)
        kids.append(
            add(
                b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents %d 0 R"
                b"/Resources<</Font<</F %d 0 R>>/XObject<</I %d 0 R>>>>>>" % (body, font, picture)
            )
        )
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<</Type/Pages/Count %d/Kids[%s]>>" % (len(kids), listed)
    out = io.BytesIO()
    out.write(b"%PDF-1.4\n")
    starts = []
    for number, content in enumerate(objects, 1):
        starts.append(out.tell())
        out.write(b"%d 0 obj\n%s\nendobj\n" % (number, content))
    table = out.tell()
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1))
    out.writelines(b"%010d 00000 n \n" % start for start in starts)
    out.write(b"trailer\n<</Size %d/Root 1 0 R>>\n" % (len(objects) + 1))
    out.write(b"startxref\n%d\n%%%%EOF\n" % table)
    path.write_bytes(out.getvalue())
    return path


def escaped(text: str) -> bytes:
    text = text.replace("\ufb01", "\x01").replace("\ufb02", "\x02")
    return text.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def locked_pdf(path: Path, pages: Sequence[Sequence[str]]) -> Path:
    """Write a PDF that needs a password."""
    from pypdf import PdfReader, PdfWriter

    writer = PdfWriter()
    for page in PdfReader(pdf(path, pages)).pages:
        writer.add_page(page)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(path)
    return path


def replaced(path: Path, name: str, content: str) -> Path:
    """Replace a part of an archive."""
    with zipfile.ZipFile(path) as file:
        parts = {it: file.read(it) for it in file.namelist()}
    return archive(path, {**parts, name: content})
