"""Finding quotes at the place of their exact words, and nowhere else."""

from __future__ import annotations

import random
import re
import time

import pytest

from app.documents.citations.values import CitationCheck, normalised
from app.documents.values.documents import (
    AttachedFile,
    Document,
    DocumentKind,
    Location,
    LocationKind,
    Section,
)
from tests.support.attached import attached

NAMES = (
    "Berg",
    "Okafor",
    "Lindqvist",
    "Marchetti",
    "Sørensen",
    "Y\u0131lmaz",
    "Kowalczyk",
    "Dubois",
)
CITIES = ("Ulm", "Gdańsk", "Lyon", "Bergen", "Graz", "Utrecht", "Porto", "Leeds")
THINGS = ("kiln", "deposit", "notice", "Vertrag", "Straßenlaterne", "flue", "office", "Miete")
SENTENCES = (
    "On {day} May {year}, {name} moved the {thing} to {city} for {sum} euros.",
    "Die {thing} in {city} kostet {sum} Euro und gehört nicht der Familie {name}.",
    "The {thing} may not be opened before {day} hours, unless {name} of {city} agrees.",
    "Seit dem {day}. Mai {year} zahlt {name} in {city} für die {thing} {sum} Euro im Monat.",
    "{name} said that the office in {city} had “never seen” a {thing} like the efficient flue.",
)


def made_pages(rng: random.Random, count: int = 40) -> list[list[str]]:
    """Return pages of sentences, each of which occurs only once."""
    return [[made_sentence(rng, page * 10 + at) for at in range(6)] for page in range(count)]


def made_sentence(rng: random.Random, number: int) -> str:
    said = rng.choice(SENTENCES).format(
        day=rng.randint(10, 28),
        year=2000 + number % 25,
        name=rng.choice(NAMES),
        thing=rng.choice(THINGS),
        city=rng.choice(CITIES),
        sum=f"{rng.randint(2, 9)},{rng.randint(100, 999)}",
    )
    return f"{said} That is clause {number}."


def printed(sentences: list[str], rng: random.Random) -> str:
    """Set a page in narrow lines, with hyphenated words, ligatures and soft hyphens."""
    lines, line = [], ""
    for word in " ".join(sentences).split(" "):
        room = 34 - len(line)
        if len(word) <= room:
            line += word + " "
        elif room > 4 and len(word) > 7 and word.isalpha():
            lines.append(f"{line}{word[: room - 1]}-")
            line = word[room - 1 :] + " "
        else:
            lines.append(line.rstrip())
            line = word + " "
    text = "\n".join([*lines, line.rstrip()])
    text = text.replace("ffi", "\ufb03").replace("fl", "\ufb02")
    return text.replace("Straßen", "Straßen\u00ad") if rng.random() < 0.5 else text


@pytest.fixture(scope="module")
def pages() -> list[list[str]]:
    return made_pages(random.Random(1))


@pytest.fixture(scope="module")
def book(pages: list[list[str]]) -> AttachedFile:
    rng = random.Random(2)
    return attached("book.pdf", *(printed(page, rng) for page in pages))


def verdict(file: AttachedFile, quote: str, place: str = "") -> str:
    (citation,) = CitationCheck([file]).check(f"It says: „{quote}“{place} and more.")
    return citation.verdict


def test_at_least_99_of_100_true_quotes_are_found(
    pages: list[list[str]], book: AttachedFile
) -> None:
    rng, check = random.Random(3), CitationCheck([book])
    found = 0
    for _ in range(500):
        number = rng.randrange(len(pages))
        words = " ".join(pages[number]).split(" ")
        start = rng.randrange(len(words) - 6)
        quote = " ".join(words[start : start + rng.randint(4, 25)])
        quote = quote.replace("“", '"').replace("”", '"')
        (citation,) = check.check(f"So „{quote}“ (book.pdf, page {number + 1}).")
        found += citation.verdict == "found"
        assert all(span.place.number == number + 1 for span in citation.spans)
    assert found >= 495


def changed_number(rng: random.Random, words: list[str]) -> list[str] | None:
    places = [at for at, word in enumerate(words) if re.search(r"\d", word)]
    if not places:
        return None
    at = rng.choice(places)
    digit = re.search(r"\d", words[at])
    assert digit is not None
    other = str((int(digit[0]) + rng.randint(1, 8)) % 10)
    how = rng.choice(("other", "less", "more"))
    if how == "less" and len(re.findall(r"\d", words[at])) < 2:
        how = "other"
    new = {"other": other, "less": "", "more": other + digit[0]}[how]
    return [*words[:at], words[at].replace(digit[0], new, 1), *words[at + 1 :]]


def swapped_name(rng: random.Random, words: list[str]) -> list[str] | None:
    for group in (NAMES, CITIES, THINGS):
        for at, word in enumerate(words):
            bare = word.strip(".,")
            if bare in group:
                other = rng.choice([it for it in group if it != bare])
                return [*words[:at], word.replace(bare, other), *words[at + 1 :]]
    return None


def negated(rng: random.Random, words: list[str]) -> list[str] | None:
    inside = words[1:-1]
    if any(it in {"not", "nicht"} for it in inside):
        return [it for it in words if it not in {"not", "nicht"}]
    at = rng.randrange(1, len(words))
    return [*words[:at], rng.choice(("not", "nicht", "never")), *words[at:]]


def test_none_of_500_fabrications_is_found(pages: list[list[str]], book: AttachedFile) -> None:
    rng, check = random.Random(4), CitationCheck([book])
    ways = (changed_number, swapped_name, negated)
    counts = dict.fromkeys(("changed", "page", "splice"), 0)
    while sum(counts.values()) < 500:
        number = rng.randrange(len(pages))
        words = rng.choice(pages[number]).split(" ")
        named = number + 1
        kind = rng.choice(tuple(counts))
        if kind == "changed":
            made = rng.choice(ways)(rng, words)
            if made is None:
                continue
            words = made
        elif kind == "page":
            named = (number + rng.randrange(1, len(pages))) % len(pages) + 1
        else:
            other = rng.choice(pages[(number + rng.randrange(1, 9)) % len(pages)]).split(" ")
            words = [*words[: len(words) // 2], *other[len(other) // 2 :]]
        quote = " ".join(words).replace("“", '"').replace("”", '"')
        truth = [" ".join(page).replace("“", '"').replace("”", '"') for page in pages]
        stands = [at for at, text in enumerate(truth, 1) if quote in text]
        if stands if kind != "page" else named in stands:
            continue  # true by chance
        (citation,) = check.check(f"So „{quote}“ (book.pdf, page {named}).")
        assert citation.verdict != "found", (kind, quote)
        counts[kind] += 1
    assert min(counts.values()) > 100


SOURCE = attached(
    "lease.pdf",
    "The rent is 1,250.50 euros from 14 May. A well-\nknown firm may not enter; -3 degrees.",
    "It takes 3-\n4 days, in 2025-\n26. "
    "Eine Nord-\nsee-Fahrt der E-\nMail-Firma. “Never,” said O’Neil.",
)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("from 14 May", "found"),
        ("4 May", "not_found"),
        ("1,250.50 euros", "found"),
        ("250.50 euros", "not_found"),
        ("is 1,250", "not_found"),
        ("3 degrees", "not_found"),
        ("-3 degrees", "found"),
        ("well-known firm", "found"),
        ("wellknown firm", "found"),
        ("Nordsee-Fahrt der E-Mail-Firma", "found"),
        ("firm may enter", "not_found"),
        ("firm may not  enter", "found"),
        ("the rent is", "not_found"),
        ("The rent … may not enter", "not_found"),
        ("rent is 1,250.50 euro", "not_found"),
        ("said O'Neil", "found"),
        ("takes 3-4 days", "found"),
        ("takes 34 days", "not_found"),
        ("in 2025-26", "found"),
        ("in 202526", "not_found"),
        ("4 days", "not_found"),
    ],
)
def test_only_what_stands_there_is_found(quote: str, expected: str) -> None:
    assert verdict(SOURCE, quote) == expected


def test_words_that_stand_on_another_page_are_elsewhere() -> None:
    assert verdict(SOURCE, "from 14 May", " (lease.pdf, page 1)") == "found"
    assert verdict(SOURCE, "from 14 May", " (lease.pdf, Seite 2)") == "elsewhere"
    assert verdict(SOURCE, "from 14 May", ", S. 1–2") == "found"


def test_words_of_another_file_than_the_named_one_are_elsewhere() -> None:
    check = CitationCheck([SOURCE, attached("other.txt", "Nothing of that.")])
    (citation,) = check.check("“from 14 May” [other.txt]")
    assert (citation.verdict, citation.name) == ("elsewhere", "lease.pdf")


def test_a_quote_over_two_pages_has_both_places() -> None:
    file = attached("a.pdf", "The rent is due on", "the third day.")
    (citation,) = CitationCheck([file]).check('It says "is due on the third" (page 1).')
    assert citation.verdict == "found"
    assert [span.place.number for span in citation.spans] == [1, 2]


def test_the_span_is_that_of_the_words_in_the_source() -> None:
    (citation,) = CitationCheck([SOURCE]).check("„well-known firm“")
    (span,) = citation.spans
    text = SOURCE.document.sections[0].text[span.start : span.end]
    assert text == "well-\nknown firm"
    assert citation.document == SOURCE.document.sha256


def test_every_shape_of_quotation_marks_is_a_quote_but_single_words_are_not() -> None:
    answer = '“from 14 May” „from 14 May“ «from 14 May» »from 14 May« "from 14 May" “Hearth”'
    assert [it.verdict for it in CitationCheck([SOURCE]).check(answer)] == ["found"] * 5


def test_ligatures_and_composed_characters_are_the_same() -> None:
    assert normalised("e\ufb03cient Mu\u0308ll") == "efficient Müll"


def test_an_answer_without_quotes_has_no_citations() -> None:
    assert CitationCheck([SOURCE]).check("It begins in May.") == ()
    assert CitationCheck([]).check("“from 14 May”")[0].verdict == "not_found"


def document(
    *texts: str, kind: DocumentKind, place: LocationKind, name: str = "a.pdf"
) -> AttachedFile:
    sections = tuple(Section(Location(place, at), text) for at, text in enumerate(texts, 1))
    return AttachedFile(name, Document(kind, "0" * 64, 1, sections))


NUMBERS = document(
    "At 10 m/s or 10^3 m, 3 1/2 cups or 3 ½ litres at \u2212 5 °C, x = - 7 K. Fläche 120 m² groß, "
    "the growth¹ was slow at 10⁻⁹ bar. List:\n- 6 eggs – 8 days old. re\u200bfund now.",
    kind=DocumentKind.PDF,
    place=LocationKind.PAGE,
)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("At 10 m", "not_found"),
        ("m/s or 10", "not_found"),
        ("10^3 m, 3", "not_found"),
        ("1/2 cups or", "not_found"),
        ("½ litres at", "not_found"),
        ("3 ½ litres at", "found"),
        ("5 °C, x", "not_found"),
        ("\u2212 5 °C, x", "found"),
        ("7 K. Fläche", "not_found"),
        ("Fläche 120 m", "not_found"),
        ("the growth", "found"),
        ("the growth¹ was", "found"),
        ("slow at 10", "not_found"),
        ("6 eggs", "found"),
        ("8 days old", "found"),
        ("fund now", "not_found"),
        ("re\x01fund now", "not_found"),
    ],
)
def test_a_part_of_a_number_or_unit_is_not_found(quote: str, expected: str) -> None:
    (citation,) = CitationCheck([NUMBERS]).check(f"«{quote}»")
    assert citation.verdict == expected


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("Adler\tUlm\t12\t345", "found"),
        ("Ulm 12 345", "not_found"),  # this would be a single number
        ("Adler Ulm 12", "found"),
        ("Bauer Köln 48 1250", "found"),
        ("345 Bauer Köln", "not_found"),
        ("Notes Total", "not_found"),
    ],
)
def test_two_cells_are_no_number_and_two_rows_no_quote(quote: str, expected: str) -> None:
    table = "Adler\tUlm\t12\t345\nBauer\tKöln\t48\t1250\nNotes\nTotal"
    file = document(table, kind=DocumentKind.XLSX, place=LocationKind.SHEET)
    (citation,) = CitationCheck([file]).check(f"«{quote}»")
    assert citation.verdict == expected


MARKDOWN = document(
    "The **server** is *not* safe; see [the terms](http://a.b/c) and `a_b` in __all__ cases.\n"
    "Price* 5 euros, 2*3*4 and **bold *inner* text** here.\n\n> Quoted line\n> goes on.\n\n"
    "```\nx = *y * *z\n```\n",
    kind=DocumentKind.MARKDOWN,
    place=LocationKind.HEADING,
)


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        ("The server is not safe", "found"),
        ("The **server** is *not* safe", "found"),
        ("server** is *not", "found"),
        ("The server is safe", "not_found"),
        ("erver is not", "not_found"),
        ("see the terms and a_b in all cases", "found"),
        ("Price 5 euros", "not_found"),
        ("euros, 234", "not_found"),
        ("2*3*4 and bold inner text here", "found"),
        ("Quoted line goes on", "found"),
        ("x = y * z", "not_found"),
        ("x = *y * *z", "found"),
    ],
)
def test_what_markdown_hides_does_not_count(quote: str, expected: str) -> None:
    """An answer is checked as its reader sees it, without the markup that a model copied."""
    (citation,) = CitationCheck([MARKDOWN]).check(f"«{quote}»")
    assert citation.verdict == expected


@pytest.mark.parametrize("text", ["*_" * 100_000, "`" * 300_000, "[" * 200_000, "](" * 100_000])
def test_a_hostile_markdown_file_is_checked_in_time(text: str) -> None:
    file = document(text, kind=DocumentKind.MARKDOWN, place=LocationKind.HEADING)
    start = time.process_time()
    CitationCheck([file]).check(f"«{'*' * 300} a b» and «{'*_' * 200}a b»")
    assert time.process_time() - start < 10


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("“Er sagte „nein danke“ und ging.”", "found"),
        ("„Er sagte „nein danke“ und ging.“", "found"),
        ("“Er sagte \u201anein danke\u2018 und ging.”", "found"),
        ("“Er sagte „nein danke“ und blieb.”", "not_found"),
        ("“Sie schrieb “ja doch” dazu.”", "found"),
        ("“Sie schrieb “ja doch” nie.”", "not_found"),
        ("“5″ 6\u2032 tall”", "not_found"),
        ("“5\u2032 6″ tall”", "found"),
    ],
)
def test_a_quote_with_quotes_in_it_is_checked_as_a_whole(answer: str, expected: str) -> None:
    text = "Er sagte „nein danke“ und ging. Sie schrieb “ja doch” dazu. It is 5\u2032 6″ tall."
    file = document(text, kind=DocumentKind.PDF, place=LocationKind.PAGE)
    (citation,) = CitationCheck([file]).check(answer)
    assert citation.verdict == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("{} (pg. 2)", "elsewhere"),
        ("{} (p2)", "elsewhere"),
        ("{} on page no. 2", "elsewhere"),
        ("{} (Seite Nr. 2)", "elsewhere"),
        ("{} on the 2nd page", "elsewhere"),
        ("{} auf der zweiten Seite", "elsewhere"),
        ("{} (a.pdf, 2)", "elsewhere"),
        ("{} (a.pdf:2)", "elsewhere"),
        ("Page 2\n\n{}", "elsewhere"),
        ("On page 2 it says:\n- {}", "elsewhere"),
        ("Page 1:\n\n{}", "found"),
        ("{} (Section 4)", "place_unchecked"),  # a section is no page number
        ("{} (Section 1, page 2)", "elsewhere"),
        ("{} (Section 2, page 1)", "place_unchecked"),
    ],
)
def test_a_page_is_held_against_the_quote_however_it_is_named(answer: str, expected: str) -> None:
    file = document(
        "The fee is 5 euros.", "Other words.", kind=DocumentKind.PDF, place=LocationKind.PAGE
    )
    (citation,) = CitationCheck([file]).check(answer.format("“The fee is 5 euros.”"))
    assert citation.verdict == expected
