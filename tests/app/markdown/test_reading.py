"""The readable text of blocks, and laying marks over it."""

from __future__ import annotations

from app.markdown.blocks import Block, Code, Mark, Paragraph, Span, Table
from app.markdown.parser import Parser
from app.markdown.reading import MarkedPart, Sign, marked, read_text, sentences, with_signs


def parse(text: str) -> tuple[Block, ...]:
    return Parser().parse(text)


def told(text: str) -> list[str]:
    blocks = parse(text)
    read = read_text(blocks)
    return [read[start:end] for start, end in sentences(blocks)]


def pieces(blocks: tuple[Block, ...]) -> list[tuple[str, Mark]]:
    spans: list[Span] = []
    for block in blocks:
        if isinstance(block, Paragraph):
            spans += block.spans
        elif isinstance(block, Table):
            spans += [span for row in block.rows for cell in row for span in cell]
    return [(it.text, it.mark) for it in spans if it.mark]


def test_markup_is_not_read() -> None:
    assert read_text(parse("# A *b*\n\n- **c** [d](https://e.org)")) == "A b\n\nc d"


def test_lines_cells_and_blocks_are_told_apart() -> None:
    assert read_text(parse("a\nb\n\n|c|d|\n|-|-|\n|e|f|")) == "a\nb\n\nc\td\ne\tf"


def test_a_block_quote_has_its_mark() -> None:
    blocks = parse("It says:\n\n> a **b**\n> c\n\nEnd.")
    read = read_text(blocks)
    assert read == "It says:\n\n> a b\nc\n\nEnd."
    start = read.index("a b")
    found = marked(blocks, [MarkedPart(start, start + len("a b\nc"), "found", 1)])
    assert "".join(text for text, _ in pieces(found)).split() == ["a", "b", "c"]


def test_code_and_formulas_are_nobodys_words() -> None:
    read = read_text(parse('One\n\n```\nsay("this and that")\n```\n\n$x+1$ `"two words"`'))
    assert "this and that" not in read
    assert '"' not in read
    assert "two words" in read


def test_a_mark_goes_over_spans_of_several_styles() -> None:
    blocks = parse("He said “the **third** day” then.")
    start = read_text(blocks).index("“")
    found = marked(blocks, [MarkedPart(start, start + len("“the third day”"), "found", 7)])
    assert pieces(found) == [("“the ", "found"), ("third", "found"), (" day”", "found")]
    assert isinstance(found[0], Paragraph)
    assert [it.ends for it in found[0].spans if it.mark] == [False, False, True]
    assert read_text(found) == read_text(blocks)


def test_a_mark_lies_in_the_right_cell_and_block() -> None:
    blocks = parse("“a b”\n\n|x|“a b”|\n|-|-|\n|“a b”|y|\n\n“a b” end")
    read = read_text(blocks)
    at = read.index("y") - len("“a b”\n")
    found = marked(blocks, [MarkedPart(at, at + 5, "elsewhere", 1)])
    table = found[1]
    assert isinstance(table, Table)
    assert table.rows[1][0][0].mark == "elsewhere"
    assert pieces(found) == [("“a b”", "elsewhere")]
    assert found[0] is blocks[0]


def test_blocks_of_code_stay_as_they_are() -> None:
    blocks = parse("a b\n\n```\nc\n```\n\nd e")
    found = marked(blocks, [MarkedPart(0, 999, "not_found", 1)])
    assert isinstance(found[1], Code)
    assert found[1] == blocks[1]
    assert pieces(found) == [("a b", "not_found"), ("d e", "not_found")]


def test_the_number_of_a_footnote_is_not_read() -> None:
    blocks = parse("One two[^1] three four.\n\n[^1]: The note.")
    assert read_text(blocks).startswith("One two three four.")
    found = marked(blocks, [MarkedPart(0, 13, "found", 1)])
    assert [text for text, _ in pieces(found)] == ["One two", " three"]


def test_sentences_are_told_by_their_ends() -> None:
    text = "It says “No. Never.” on p. 3 of it. See S. 4 und Art. 5 dazu. Is it so for you? It is!"
    assert told(text) == [
        "It says “No. Never.” on p. 3 of it.",
        "See S. 4 und Art. 5 dazu.",
        "Is it so for you?",
    ]


def test_headings_code_and_tables_have_no_sentences() -> None:
    text = "# This is a long heading\n\n```\nthis is some code\n```\n\n|a b c d e|\n|-|\n|f g h i|"
    assert told(text) == []


def numbered(source: str, *quotes: str) -> str:
    """Put a sign after each of the quotes, in order."""
    read, at, signs = read_text(parse(source)), 0, []
    for number, quote in enumerate(quotes, 1):
        start = read.index(quote, at)
        at = start + len(quote)
        signs.append(Sign(start, at, f"✓{number}"))
    return with_signs(source, signs, parse)


def test_signs_stand_behind_their_parts_in_the_source() -> None:
    source = "He says “two **bold** words”, and\n\n- *“a\n  b”*\n- “_c_ d”.\n\n|“e f”|\n|-|\n|g|"
    assert numbered(source, "“two bold words”", "“a\nb”", "“c d”", "“e f”") == (
        "He says “two **bold** words”✓1, and\n\n- *“a\n  b”✓2*\n- “_c_ d”✓3.\n\n|“e f”✓4|\n|-|\n|g|"
    )


def test_a_sign_stands_behind_a_block_quote() -> None:
    assert numbered("So:\n\n> a **b**\n> c d.\n\nEnd.", "a b\nc d.") == (
        "So:\n\n> a **b**\n> c d.✓1\n\nEnd."
    )


def test_a_sign_goes_to_no_place_that_only_looks_the_same() -> None:
    source = '```\n"a b"\n```\n\n`"a b"`, "a b", "a b" and [^1]\n\n[^1]: "a b"'
    once = numbered(source, '"a b"')
    assert once == source.replace('`, "a b"', '`, "a b"✓1')
    three = numbered(source, '"a b"', '"a b"', '"a b"')
    assert three.endswith('`, "a b"✓1, "a b"✓2 and [^1]\n\n[^1]: "a b"✓3')


def test_a_part_that_cannot_be_told_in_the_source_has_no_sign() -> None:
    source = "“a &amp; b [c](https://e.org/x)” and “d e”"
    assert numbered(source, "“a & b c”", "“d e”") == f"{source}✓2"
