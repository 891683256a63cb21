"""Reading many documents in one process; a harmful one affects no other."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from app.base.errors import DocumentNotRead
from app.documents.reading.limits import Limits
from app.documents.reading.reader import DocumentReader, ManyDocuments
from engines.cancel import CancelToken
from engines.errors import Cancelled
from tests.support import made_documents as made

CRASHING = """
import json, os, sys
from engines.helper.child import begin_serving
say, orders = begin_serving()
for at, order in enumerate(orders):
    name = order["name"]
    if name == "crash.txt" or (name == "tired.txt" and at):
        os._exit(11)
    say({"kind": "text", "sha256": "0" * 64, "size": 1, "scanned": []})
    place = {"kind": "whole", "number": 1, "title": ""}
    say({"place": place, "text": str(os.getpid())})
    say({"sections": 1})
"""


@pytest.fixture
def many() -> Iterator[ManyDocuments]:
    with closing(DocumentReader().many()) as many:
        yield many


def text(path: Path, words: str) -> Path:
    path.write_text(words, encoding="utf-8")
    return path


def test_files_of_all_kinds_are_read_one_after_the_other(
    many: ManyDocuments, tmp_path: Path
) -> None:
    read = [
        many.read(path, CancelToken())
        for path in (
            text(tmp_path / "grüße.txt", "Guten Morgen"),
            made.pdf(tmp_path / "a.pdf", [["Page one"], ["Page two"]]),
            text(tmp_path / "b.md", "# Title\n\nWords"),
        )
    ]
    assert [len(it.sections) for it in read] == [1, 2, 1]
    assert read[0].text == "Guten Morgen"
    assert "Page two" in read[1].text


def test_a_file_that_cannot_be_read_is_refused_and_the_next_is_read(
    many: ManyDocuments, tmp_path: Path
) -> None:
    for path, why in (
        (made.locked_pdf(tmp_path / "a.pdf", [["Secret"]]), "password"),
        (tmp_path / "gone.txt", "not there"),
    ):
        with pytest.raises(DocumentNotRead, match=why):
            many.read(path, CancelToken())
    assert many.read(text(tmp_path / "b.txt", "Words"), CancelToken()).text == "Words"


def test_a_crash_costs_one_file_and_one_that_was_not_first_gets_a_second_try(
    tmp_path: Path,
) -> None:
    for name in ("a.txt", "crash.txt", "b.txt", "tired.txt"):
        text(tmp_path / name, "x")
    with closing(DocumentReader(command=(sys.executable, "-c", CRASHING)).many()) as many:
        first = many.read(tmp_path / "a.txt", CancelToken()).text
        with pytest.raises(DocumentNotRead, match="crashed"):
            many.read(tmp_path / "crash.txt", CancelToken())
        second = many.read(tmp_path / "b.txt", CancelToken()).text
        third = many.read(tmp_path / "tired.txt", CancelToken()).text
    assert len({first, second, third}) == 3


def test_a_bomb_costs_one_file(tmp_path: Path) -> None:
    bomb = made.docx(tmp_path / "bomb.docx", made.paragraph("x" * 3_000_000))
    with closing(DocumentReader(Limits(unpacked_bytes=1_000_000)).many()) as many:
        with pytest.raises(DocumentNotRead, match="unpacked"):
            many.read(bomb, CancelToken())
        assert many.read(text(tmp_path / "b.txt", "Words"), CancelToken()).text == "Words"


def test_a_cancel_ends_the_reading(many: ManyDocuments, tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        many.read(text(tmp_path / "a.txt", "Words"), cancel)


@pytest.mark.skipif(sys.platform in {"win32", "darwin"}, reason="names are text there")
def test_a_file_is_read_whose_name_is_no_text(many: ManyDocuments, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.txt")
    path.write_text("Words")
    assert many.read(path, CancelToken(), "cafe.txt").text == "Words"
