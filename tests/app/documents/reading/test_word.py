"""Reading a DOCX with its automatic numbers, notes, headers and text boxes."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.documents.citations.values import CitationCheck
from app.documents.values.documents import AttachedFile, Document, Unread
from tests.app.documents.reading.conftest import Read
from tests.support import made_documents as made


def level(number: int, form: str, text: str, more: str = "", start: str = "1") -> str:
    return (
        f"<w:lvl w:ilvl='{number}'><w:start w:val='{start}'/><w:numFmt w:val='{form}'/>{more}"
        f"<w:lvlText w:val='{text}'/></w:lvl>"
    )


def numbering(*lists: str, more: str = "") -> str:
    """Return the numbering part with lists 1, 2 and so on, each defined by its levels."""
    defined = "".join(
        f"<w:abstractNum w:abstractNumId='{at}'>{levels}</w:abstractNum>"
        for at, levels in enumerate(lists, 1)
    )
    used = "".join(
        f"<w:num w:numId='{at}'><w:abstractNumId w:val='{at}'/></w:num>"
        for at in range(1, len(lists) + 1)
    )
    return f"<w:numbering xmlns:w='{made.W}'>{defined}{used}{more}</w:numbering>"


def item(text: str, number: str = "1", at: int | None = 0, style: str = "") -> str:
    ilvl = "" if at is None else f"<w:ilvl w:val='{at}'/>"
    numbered = f"<w:numPr>{ilvl}<w:numId w:val='{number}'/></w:numPr>" if number else ""
    styled = f"<w:pStyle w:val='{style}'/>" if style else ""
    return f"<w:p><w:pPr>{styled}{numbered}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


LEGAL = (
    level(0, "decimal", "§ %1")
    + level(1, "decimal", "%1.%2")
    + level(2, "lowerLetter", "(%3)")
    + level(3, "lowerRoman", "%4)")
)


def lines(document: Document) -> list[str]:
    return [line for line in document.text.splitlines() if line.strip()]


def test_clauses_are_read_with_their_automatic_numbers(read: Read, tmp_path: Path) -> None:
    body = (
        item("Object") + item("The flat", at=1) + item("Rent")
        + item("The tenant pays", at=1) + item("by bank", at=2) + item("in cash", at=2)
        + item("The landlord pays", at=1) + item("heating", at=2) + item("oil", at=3)
    )  # fmt: skip
    document = read(made.docx(tmp_path / "a.docx", body, numbering=numbering(LEGAL)))
    assert lines(document) == [
        "§ 1 Object", "1.1 The flat", "§ 2 Rent", "2.1 The tenant pays", "(a) by bank",
        "(b) in cash", "2.2 The landlord pays", "(a) heating", "i) oil",
    ]  # fmt: skip
    check = CitationCheck([AttachedFile("a.docx", document)])
    assert [it.verdict for it in check.check("“2.1 The tenant pays”, “2.3 The tenant pays”")] == [
        "found",
        "not_found",
    ]


FORMS = [
    ("decimal", "4"), ("upperRoman", "IV"), ("lowerRoman", "iv"), ("upperLetter", "D"),
    ("lowerLetter", "d"), ("ordinal", "4th"), ("decimalZero", "04"), ("cardinalText", "Four"),
    ("chineseCounting", "四"), ("russianLower", "\u0433"), ("decimalEnclosedCircle", "④"),
    ("none", ""),
]  # fmt: skip


@pytest.mark.parametrize(("form", "shown"), FORMS)
def test_numbers_have_the_format_of_their_list(
    read: Read, tmp_path: Path, form: str, shown: str
) -> None:
    part = numbering(level(0, form, "No. %1", start="4"))
    document = read(made.docx(tmp_path / "a.docx", item("Rent"), numbering=part))
    assert document.text == f"No. {shown} Rent".replace("  ", " ")


def test_letters_go_on_behind_z_as_word_writes_them(read: Read, tmp_path: Path) -> None:
    body = "".join(item("x") for _ in range(28))
    part = numbering(level(0, "lowerLetter", "%1)"))
    found = lines(read(made.docx(tmp_path / "a.docx", body, numbering=part)))
    assert found[25:] == ["z) x", "aa) x", "bb) x"]


def test_a_list_begins_anew_where_it_says_so(read: Read, tmp_path: Path) -> None:
    """A second use of a list continues its numbers, unless it has a start of its own."""
    more = (
        "<w:num w:numId='8'><w:abstractNumId w:val='1'/></w:num>"
        "<w:num w:numId='9'><w:abstractNumId w:val='1'/><w:lvlOverride w:ilvl='0'>"
        "<w:startOverride w:val='1'/></w:lvlOverride></w:num>"
    )
    body = item("a") + item("b") + item("c", "8") + item("d", "9") + item("e", "9") + item("f", "0")
    part = numbering(level(0, "decimal", "%1."), more=more)
    found = lines(read(made.docx(tmp_path / "a.docx", body, numbering=part)))
    assert found == ["1. a", "2. b", "3. c", "1. d", "2. e", "f"]


def test_a_level_may_go_on_behind_higher_ones_and_write_all_in_figures(
    read: Read, tmp_path: Path
) -> None:
    levels = level(0, "upperRoman", "%1") + level(
        1, "decimal", "%1.%2", "<w:lvlRestart w:val='0'/><w:isLgl/>"
    )
    body = item("A") + item("a", at=1) + item("B") + item("b", at=1)
    found = lines(read(made.docx(tmp_path / "a.docx", body, numbering=numbering(levels))))
    assert found == ["I A", "1.1 a", "II B", "2.2 b"]


def test_a_style_numbers_its_paragraphs(read: Read, tmp_path: Path) -> None:
    """A heading's style numbers it; a style based on another takes over its list."""
    styles = (
        f"<w:styles xmlns:w='{made.W}'>"
        "<w:style w:styleId='H1'><w:name w:val='heading 1'/><w:pPr><w:numPr><w:numId w:val='1'/>"
        "</w:numPr></w:pPr></w:style>"
        "<w:style w:styleId='H2'><w:name w:val='heading 2'/><w:basedOn w:val='H1'/></w:style>"
        "<w:style w:styleId='Plain'><w:name w:val='Plain'/><w:basedOn w:val='H1'/><w:pPr>"
        "<w:outlineLvl w:val='9'/><w:numPr><w:numId w:val='0'/></w:numPr></w:pPr></w:style>"
        "</w:styles>"
    )
    levels = level(0, "decimal", "%1", "<w:pStyle w:val='H1'/>") + level(
        1, "decimal", "%1.%2", "<w:pStyle w:val='H2'/>"
    )
    body = "".join(
        item(text, "", None, style)
        for text, style in (("Rent", "H1"), ("Due", "H2"), ("words", "Plain"), ("Costs", "H2"))
    )
    document = read(
        made.docx(tmp_path / "a.docx", body, numbering=numbering(levels), styles=styles)
    )
    assert [it.place.title for it in document.sections] == ["1 Rent", "1.1 Due", "1.2 Costs"]
    assert document.sections[1].text == "1.1 Due\n\nwords"


def test_bullets_are_read_as_such(read: Read, tmp_path: Path) -> None:
    part = numbering(level(0, "bullet", "\uf0b7"), level(0, "bullet", "–"))
    body = item("one") + item("two", "2")
    assert lines(read(made.docx(tmp_path / "a.docx", body, numbering=part))) == ["• one", "– two"]


def test_paragraphs_that_were_deleted_do_not_count(read: Read, tmp_path: Path) -> None:
    gone = (
        "<w:p><w:pPr><w:numPr><w:ilvl w:val='0'/><w:numId w:val='1'/></w:numPr><w:rPr><w:del/>"
        "</w:rPr></w:pPr><w:del><w:r><w:delText>gone</w:delText></w:r></w:del></w:p>"
    )
    changed = item("b").replace(
        "</w:pPr>",
        "<w:pPrChange><w:pPr><w:pStyle w:val='berschrift1'/></w:pPr></w:pPrChange></w:pPr>",
    )
    body = item("a") + gone + changed
    part = numbering(level(0, "decimal", "%1."))
    document = read(made.docx(tmp_path / "a.docx", body, numbering=part))
    assert lines(document) == ["1. a", "2. b"]
    assert len(document.sections) == 1


def test_a_list_that_contradicts_itself_is_read_without_numbers(read: Read, tmp_path: Path) -> None:
    part = (
        f"<w:numbering xmlns:w='{made.W}'><w:abstractNum w:abstractNumId='1'><w:numStyleLink "
        "w:val='x'/><w:lvl w:ilvl='77'/></w:abstractNum><w:num w:numId='1'><w:abstractNumId "
        "w:val='1'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='9'/></w:num></w:numbering>"
    )
    body = item("a") + item("b", "2") + item("c", "3") + item("d", "1", 8)
    assert lines(read(made.docx(tmp_path / "a.docx", body, numbering=part))) == list("abcd")


def test_notes_stand_in_a_place_of_their_own_with_their_numbers(read: Read, tmp_path: Path) -> None:
    def reference(identifier: int) -> str:
        return f"<w:r><w:footnoteReference w:id='{identifier}'/></w:r>"

    body = f"<w:p><w:r><w:t>The deposit</w:t></w:r>{reference(7)}{reference(3)}</w:p>"
    notes = "".join(
        f"<w:footnote w:id='{at}'><w:p><w:r><w:footnoteRef/></w:r><w:r><w:t>{text}</w:t></w:r>"
        "</w:p></w:footnote>"
        for at, text in ((3, "Second"), (7, "First"))
    )
    part = f"<w:footnotes xmlns:w='{made.W}'>{notes}</w:footnotes>"
    document = read(made.docx(tmp_path / "a.docx", body, footnotes=part))
    assert [it.place.title for it in document.sections] == ["", "Footnotes"]
    assert lines(document)[2:] == ["2 Second", "1 First"]


def test_headers_and_footers_are_read_as_such(read: Read, tmp_path: Path) -> None:
    """A first page's header counts only if the section turns on a different first page."""

    def margin(text: str) -> str:
        return f"<w:hdr xmlns:w='{made.W}'>{made.paragraph(text)}</w:hdr>"

    sections = "".join(
        f"<w:headerReference w:type='{kind}' r:id='{name}'/>"
        for kind, name in (("default", "r1"), ("first", "r2"), ("even", "r3"))
    ).replace(
        "headerReference w:type='default' r:id='r1'", "footerReference w:type='default' r:id='r1'"
    )
    body = f"{made.paragraph('Words')}<w:sectPr xmlns:r='{made.R}'>{sections}</w:sectPr>"
    path = made.docx(
        tmp_path / "a.docx", body, header2=margin("Not shown"), header3=margin("Nor this"),
        footer1=margin("ACME, confidential"),
    )  # fmt: skip
    rels = made.relations(
        [("r1", "footer", "footer1.xml"), ("r2", "header", "header2.xml"),
         ("r3", "header", "header3.xml")]
    )  # fmt: skip
    made.replaced(path, "word/_rels/document.xml.rels", rels)
    document = read(path)
    assert [it.text for it in document.sections] == ["Words", "(footers)\n\nACME, confidential"]


def test_a_text_box_does_not_run_into_the_paragraph_that_holds_it(
    read: Read, tmp_path: Path
) -> None:
    box = f"<w:r><w:pict><w:txbxContent>{made.paragraph('In a box')}</w:txbxContent></w:pict></w:r>"
    body = f"<w:p><w:r><w:t>Before </w:t></w:r>{box}<w:r><w:t>behind</w:t></w:r></w:p>"
    assert lines(read(made.docx(tmp_path / "a.docx", body))) == ["In a box", "Before behind"]


def test_signs_of_fonts_are_read_as_what_they_draw(read: Read, tmp_path: Path) -> None:
    signs = "".join(
        f"<w:r><w:sym w:font='{font}' w:char='{code}'/></w:r>"
        for font, code in (("Wingdings", "F0FE"), ("Symbol", "F0B1"), ("Other", "F012"))
    )
    body = f"<w:p>{signs}<w:r><w:t>5</w:t></w:r></w:p>"
    assert read(made.docx(tmp_path / "a.docx", body)).text == "☑±(symbol)5"


def test_what_is_drawn_and_not_read_is_named(read: Read, tmp_path: Path) -> None:
    drawn = (
        "<w:r><w:drawing><wp:extent xmlns:wp='w' cx='7200000' cy='7200000'/><c:chart xmlns:c='c'/>"
        "</w:drawing></w:r><w:r><w:drawing><wp:extent xmlns:wp='w' cx='7200000' cy='7200000'/>"
        "<a:blip xmlns:a='a'/></w:drawing></w:r><w:r><w:drawing><wp:extent xmlns:wp='w' cx='9' "
        "cy='9'/><a:blip xmlns:a='a'/></w:drawing></w:r>"
    )
    comments = f"<w:comments xmlns:w='{made.W}'>{made.paragraph('Too high')}</w:comments>"
    path = made.docx(tmp_path / "a.docx", f"<w:p>{drawn}</w:p>", comments=comments)
    document = read(path)
    assert document.text.split("  ") == [" (chart, not read)", "(picture, not read) "]
    assert document.unread == (Unread.CHARTS, Unread.PICTURES, Unread.COMMENTS)
