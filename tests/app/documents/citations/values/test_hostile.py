"""Checking citations in hostile answers and documents within a time limit."""

from __future__ import annotations

import time

import pytest

from app.documents.citations.values import CitationCheck
from app.documents.values.documents import DocumentKind, LocationKind
from tests.support.suite import sampled
from tests.support.told_documents import told

MOST_S = 10
"""Limit in seconds of processor time; each check takes less than two on one core."""

QUOTE = "“the rent is due”"
ANSWERS = {
    "quotes": f"{QUOTE} (Clause 4.2), " * 3000,
    "opening marks": "“" * 100_000,
    "corners": "「a" * 50_000,
    "single marks": "\u2018a s\u2019 b " * 10_000,
    "cells": f"a\t{QUOTE}\t" * 3000,
    "rows": "Clause\tQuote\n" + f"4.2\t{QUOTE}\n" * 2000,
    "headings": f"Clause 4.2:\n\n{QUOTE}\n\n" * 2000,
    "names": "The " + "Xyz " * 30_000 + QUOTE,
    "numbers": "clause 1, 2, " * 20_000 + QUOTE,
    "long number": "section 1." + "1.1.1.1." * 20_000 + QUOTE,
    "block marks": ">" * 100_000 + "\n" + "> " * 50_000 + "the rent is due",
    "long block": "> a" + " " * 100_000 + "b",
    "blank lines": " \n" * 50_000 + QUOTE,
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_a_hostile_answer_is_checked_in_time(answer: str) -> None:
    file = told("1. Rent\n\nHere the rent is due.\n\n2. More\n\nIt is so.")
    began = time.process_time()
    CitationCheck([file]).check(ANSWERS[answer])
    assert time.process_time() - began < MOST_S


TEXTS = {
    "tabs": "\t" * 200_000,
    "bars": "| " * 100_000,
    "spaces": " " * 200_000 + "x",
    "quoted lines": ">\n" * 100_000,
    "quotes of quotes": "\n> " * 100_000,
    "one number": "1. A\n" * 40_000,
    "two numbers": "1. A\n2. B\n" * 30_000,
    "deep numbers": "1.1.1.1 A\n" * 40_000,
    "labels": "Article 3\n" * 40_000,
    "powers": "^{" * 100_000,
    "numerals": "一" * 200_000,
    "one clause": "4.2 A\n" + "the rent is due\n" * 60_000,
}


@pytest.mark.parametrize(
    "kind", sampled([DocumentKind.TEXT, DocumentKind.MARKDOWN], [DocumentKind.MARKDOWN])
)
@pytest.mark.parametrize("text", TEXTS)
def test_a_hostile_document_is_checked_in_time(text: str, kind: DocumentKind) -> None:
    file = told(TEXTS[text], kind=kind, place=LocationKind.WHOLE)
    began = time.process_time()
    CitationCheck([file]).check(
        f"Clause 4.3 and “Foo Bar”: {QUOTE}; under “the rent is due”: {QUOTE}"
    )
    assert time.process_time() - began < MOST_S
