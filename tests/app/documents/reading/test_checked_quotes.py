"""Checking quotes against files: false quotes are never confirmed, and few true ones are missed."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from app.documents.citations.values import CitationCheck
from app.documents.reading.reader import DocumentReader
from app.documents.values.documents import AttachedFile
from engines.cancel import CancelToken
from tests.support.fabrications import fabrication, kinds, made_pages, true_answer
from tests.support.made_documents import column, docx, paragraph, pdf, pdf_of

FABRICATIONS, TRUE_QUOTES = 500, 500
COUNT = 16

Make = Callable[[Path, Sequence[Sequence[str]], random.Random], Path]


def lines_of(sentences: Sequence[str], width: int, rng: random.Random) -> list[str]:
    """Set sentences in lines of at most `width` characters, with hyphens and ligatures."""
    lines, line = [], ""
    for word in " ".join(sentences).split(" "):
        room = width - len(line)
        if len(word) > room > 4 and len(word) > 7 and word.isalpha() and rng.random() < 0.8:
            lines.append(f"{line}{word[: room - 1]}-")
            line = word[room - 1 :] + " "
        elif len(word) > room and line:
            lines.append(line.rstrip())
            line = word + " "
        else:
            line += word + " "
    text = "\n".join([*lines, line.rstrip()])
    return text.replace("fi", "\ufb01").replace("fl", "\ufb02").split("\n")


def plain_pdf(path: Path, pages: Sequence[Sequence[str]], rng: random.Random) -> Path:
    return pdf(path, [lines_of(it, 88, rng) for it in pages])


def two_column_pdf(path: Path, pages: Sequence[Sequence[str]], rng: random.Random) -> Path:
    contents = []
    for page in pages:
        lines = lines_of(page, 42, rng)
        half = (len(lines) + 1) // 2
        contents.append(column(lines[:half], 60, 11) + column(lines[half:], 320, 11))
    return pdf_of(path, contents)


def columns_drawn_by_lines(path: Path, pages: Sequence[Sequence[str]], rng: random.Random) -> Path:
    """Write a PDF of two columns whose lines are drawn from left to right, as some programs do."""
    contents = []
    for page in pages:
        lines = lines_of(page, 42, rng)
        half = (len(lines) + 1) // 2
        drawn = b""
        for at in range(half):
            for left, line in ((60, lines[at]), (320, [*lines[half:], ""][at])):
                drawn += one_line(line, left, 720 - 13 * at) if line else b""
        contents.append(drawn)
    return pdf_of(path, contents)


def one_line(line: str, left: int, height: int) -> bytes:
    return column([line], left, 11).replace(b" 720 Td", b" %d Td" % height)


def word_document(path: Path, pages: Sequence[Sequence[str]], _rng: random.Random) -> Path:
    """Write a document with a heading for each page."""
    body = ""
    for number, page in enumerate(pages, 1):
        body += paragraph(f"Part {number}", "berschrift1")
        body += "".join(paragraph(f"{it} ".replace("&", "&amp;")) for it in page)
    return docx(path, body)


FILES: dict[str, Make] = {
    "plain.pdf": plain_pdf,
    "columns.pdf": two_column_pdf,
    "lines.pdf": columns_drawn_by_lines,
    "parts.docx": word_document,
}


@pytest.fixture(scope="module", params=FILES)
def made(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[AttachedFile, list[list[str]]]:
    """Return a file that was read, and the sentences written on each of its pages."""
    rng = random.Random(request.param)
    pages = made_pages(rng, COUNT)
    path = FILES[request.param](tmp_path_factory.mktemp("made") / request.param, pages, rng)
    return AttachedFile(path.name, DocumentReader().read(path, CancelToken())), pages


def test_at_least_99_of_100_true_quotes_are_found(
    made: tuple[AttachedFile, list[list[str]]],
) -> None:
    file, pages = made
    rng, check = random.Random(f"true {file.name}"), CitationCheck([file])
    missed = []
    for _ in range(TRUE_QUOTES):
        answer = true_answer(rng, pages, file.name)
        (citation,) = check.check(answer)
        if citation.verdict != "found":
            missed.append((citation.verdict, answer))
    assert len(missed) <= TRUE_QUOTES // 100, missed[:9]


def test_none_of_500_fabrications_is_green(made: tuple[AttachedFile, list[list[str]]]) -> None:
    file, pages = made
    rng, check = random.Random(f"false {file.name}"), CitationCheck([file])
    counts: Counter[str] = Counter()
    while counts.total() < FABRICATIONS:
        it = fabrication(rng, pages, file.name)
        if it is None:
            continue
        (citation,) = check.check(it.answer)
        assert citation.verdict != "found", it
        counts[it.kind] += 1
    assert counts.keys() == kinds()


def test_what_lies_beside_each_other_in_two_columns_is_no_quote(tmp_path: Path) -> None:
    """Reading across the gutter makes sentences that nobody wrote."""
    rng = random.Random(7)
    pages = made_pages(rng, 4)
    for make in (two_column_pdf, columns_drawn_by_lines):
        file = AttachedFile(
            "a.pdf", DocumentReader().read(make(tmp_path / "a.pdf", pages, rng), CancelToken())
        )
        check = CitationCheck([file])
        rng = random.Random(7)
        made_pages(rng, 4)
        for page in pages:
            lines = lines_of(page, 42, rng)
            half = (len(lines) + 1) // 2
            for left, right in zip(lines[:half], lines[half:], strict=False):
                words = f"{left} {right}".replace("“", '"').replace("”", '"')
                quote = re.sub(r"^\S* | \S*$", "", words)
                (citation,) = check.check(f"It says „{quote}“ there.")
                assert citation.verdict == "not_found", (make.__name__, quote)
