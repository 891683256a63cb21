"""Checking the places that an answer names against the document's headings and numbers."""

from __future__ import annotations

import random
import textwrap

import pytest

from app.documents.citations.values import CitationCheck
from app.documents.values.documents import AttachedFile, DocumentKind, LocationKind
from tests.support.told_documents import told

UNCHECKED = "place_unchecked"

LEASE = told(
    """LEASE AGREEMENT

Preamble

This lease is made between Ann Berg and Ola Okafor.

1. Parties

1.1 The landlord is Ann Berg of Ulm.

1.2 The tenant is Ola Okafor of Graz.

4. Deposit

4.1 The tenant pays a deposit of 950 euros.

4.2 The deposit is returned within thirty days.

(a) The landlord may deduct unpaid rent.

(b) The landlord may deduct repair costs.

5. Notice

5.1 Notice is three months to the end of a month.

Annex B

Inventory lists two keys and a lamp.
"""
)
DEPOSIT = "“The tenant pays a deposit of 950 euros”"
REPAIRS = "“The landlord may deduct repair costs”"

MIETVERTRAG = told(
    """Mietvertrag

§ 3 Kaution

(1) Der Mieter zahlt eine Kaution von 950 Euro.

(2) Die Kaution wird binnen dreißig Tagen erstattet.

§ 4 Kündigung

(1) Die Kündigungsfrist beträgt drei Monate.
(2) Die Kündigung bedarf der Schriftform.

Anlage 2: Inventar

Zwei Schlüssel und eine Lampe gehören dazu.
"""
)
KAUTION = "„Die Kaution wird binnen dreißig Tagen erstattet“"
LAMPE = "„Zwei Schlüssel und eine Lampe gehören dazu“"


def verdict(file: AttachedFile, answer: str) -> str:
    """Return the verdict on the last quote of an answer."""
    return CitationCheck([file]).check(answer)[-1].verdict


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Clause 4.1 says {}.", "found"),
        ("Clause 4.2 says {}.", "elsewhere"),
        ("{} (Clause 4.1)", "found"),
        ("{} (Clause 4.2)", "elsewhere"),
        ("{} [Clause 4.2]", "elsewhere"),
        ("{}, see cl. 4.1.", "found"),
        ("{}, see cl. 4.2.", "elsewhere"),
        ("{}. (Clause 5)", "elsewhere"),
        ("{}. This is from clause 5.", "elsewhere"),
        ("{} — Clause 4.2", "elsewhere"),
        ("{} (4.1)", "found"),
        ("{} (4.2)", "elsewhere"),
        ("In 4.1 it says {}.", "found"),
        ("In 9.3 it says {}.", UNCHECKED),
        ("Clause 4 says {}.", "found"),
        ("Clause 9 says {}.", "elsewhere"),
        ("Clause IV says {}.", "found"),
        ("Clause V says {}.", "elsewhere"),
        ("Clause I says {}.", "elsewhere"),
        ("Clause four says {}.", "found"),
        ("Clause five says {}.", "elsewhere"),
        ("The fourth clause says {}.", "found"),
        ("The fifth clause says {}.", "elsewhere"),
        ("Clauses 4.1 and 7 say {}.", "found"),
        ("Clauses 1–3 say {}.", "elsewhere"),
        ("Clauses 1 to 4 say {}.", "found"),
        ("Section 4.1: {}", "found"),
        ("Sub-clause 4.2: {}", "elsewhere"),
        ("Paragraph 4.1 states {}.", "found"),
        ("¶ 5 states {}.", "elsewhere"),
        ("Article 3 says {}.", "elsewhere"),
        ("Item 4: {}", "found"),
        ("Item 5: {}", "elsewhere"),
        ("in Ziffer 4.1 steht {}", "found"),
        ("in Ziffer 4.2 steht {}", "elsewhere"),
        ("Punkt 5 sagt {}", "elsewhere"),
        ("Klausel 1.1: {}", "elsewhere"),
        ("§ 5.1: {}", "elsewhere"),
        ("Annex B says {}.", "elsewhere"),
        ("Under “Deposit”, {}.", "found"),
        ("Under “Notice”, {}.", "elsewhere"),
        ("under the heading Notice: {}", "elsewhere"),
        ("In “Notice”, {}.", "elsewhere"),
        ("In the section Deposit it says {}.", "found"),
        ("In the section Notice it says {}.", "elsewhere"),
        ("The section on Notice says {}.", "elsewhere"),
        ("The Deposit clause says {}.", "found"),
        ("The notice clause says {}.", "elsewhere"),
        ("The Termination clause says {}.", UNCHECKED),
        ("{} (Notice)", "elsewhere"),
        ("Clause 4.2\n\n{}", "elsewhere"),
        ("Clause 4.1\n\n{}", "found"),
        ("Clause 4.2 says:\n\n- “The landlord is Ann Berg”\n\n- {}", "elsewhere"),
        ("Source: Clause 5\n\n{}", "elsewhere"),
        ("{}\n\n— Clause 5", "elsewhere"),
        ("Clause 1.2 names the tenant there. It says: {}", UNCHECKED),
        ("Clause 4.1 names the deposit there. It says: {}", "found"),
        ("Clause\tQuote\n4.2\t{}", "elsewhere"),
        ("Clause\tQuote\n4.1\t{}", "found"),
        ("Quote\tWhere\n{}\tClause 5", "elsewhere"),
        ("Quote\tSection\n{}\tNotice", "elsewhere"),
        ("Page\tQuote\n2\t{}", "elsewhere"),
        ("> The tenant pays a deposit of 950 euros.\n\n(Clause 5)", "elsewhere"),
        ("> The tenant pays a deposit of 950 euros. (Clause 4.1)", "found"),
        ("> Clause 4.2: The tenant pays a deposit of 950 euros.", "elsewhere"),
        ("Clause 4.1: {}; clause 5.1: “Notice is three months”", "found"),
        ("Clause 5.1: {}; clause 4.2: “Notice is three months”", "elsewhere"),
        ("Unlike clause 4.2, clause 4.1 says {}.", UNCHECKED),
        ("§ 551 BGB says {}.", UNCHECKED),
        ("Under Security, {}.", UNCHECKED),
        ("Notice section: {}", "elsewhere"),
        ("§ „Notice“: {}", "elsewhere"),
        ("under 5. Notice: {}", "elsewhere"),
        ("{} – Notice", "elsewhere"),
        ("Regelung 5.1: {}", "elsewhere"),
        ("Clause no. 4.2: {}", "elsewhere"),
        ("the clause numbered 4.2 says {}", "elsewhere"),
        ("Pkt. 4.2: {}", "elsewhere"),
        ("B4: {}", UNCHECKED),
        ("Section 21 of the Housing Act says {}.", UNCHECKED),
    ],
)
def test_a_clause_is_held_against_the_numbers_of_the_document(answer: str, expected: str) -> None:
    assert verdict(LEASE, answer.format(DEPOSIT)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Clause 4.2(b): {}", "found"),
        ("Clause 4.2 (a): {}", "elsewhere"),
        ("Letter (b) of clause 4.2: {}", "found"),
        ("Clause 4.2, letter a: {}", "elsewhere"),
        ("Clause 4.2: {}", "found"),
        ("Clause 4: {}", "found"),
        ("Clause 4.1: {}", "elsewhere"),
    ],
)
def test_letters_belong_to_their_clause(answer: str, expected: str) -> None:
    assert verdict(LEASE, answer.format(REPAIRS)) == expected


@pytest.mark.parametrize(
    "place",
    [
        "Footnote 1",
        "Line 12",
        "Row 7",
        "Cell B4",
        "Table 3",
        "Figure 2",
        "Rn. 12",
        "Fußnote 1",
        "Zeile 3",
        "The third paragraph",
        "The closing paragraph",
        "Der zweite Absatz",
        "At the end of the document",
        "Am Anfang des Vertrags",
        "In the recitals",
        "p. iv",
    ],
)
def test_what_the_read_text_does_not_tell_is_not_checked(place: str) -> None:
    assert verdict(LEASE, f"{place}: {DEPOSIT}") == UNCHECKED


@pytest.mark.parametrize(
    "words",
    [
        "For 3 months",
        "In May",
        "At the end of the month",
        "She pays 4.2 percent",
        "I found 2 of them",
        "The answer has 3 parts",
        "In this section I found",
        "The first condition is",
        "The second point is",
        "Here is the summary:",
        "In the end",
        "Am Ende gilt",
        "Under German law",
        "Unter Umständen gilt",
        "Number one:",
        "Invoice No. 4711 aside",
        "In version 2.1",
        "It costs 4.2 million;",
        "1. Deposit:",
        "No.\tQuote\n1\t",
    ],
)
def test_a_number_or_a_time_is_no_place(words: str) -> None:
    assert verdict(LEASE, f"{words}, {DEPOSIT}") == "found"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("§ 3 Abs. 2: {}", "found"),
        ("§ 3 Abs. 1: {}", "elsewhere"),
        ("§ 4: {}", "elsewhere"),
        ("§§ 3, 4: {}", "found"),
        ("§§ 4 und 5: {}", "elsewhere"),
        ("Paragraf 3 sagt {}", "found"),
        ("des Paragrafen 4: {}", "elsewhere"),
        ("Absatz 2 des § 3: {}", "found"),
        ("Absatz 1 des § 3: {}", "elsewhere"),
        ("Abs. 1: {}", "elsewhere"),
        ("Unter „Kündigung“ steht {}", "elsewhere"),
        ("Im Abschnitt Kaution steht {}", "found"),
        ("Im Abschnitt Kündigung heißt es {}", "elsewhere"),
        ("Anlage 2: {}", "elsewhere"),
        ("Section 3 says {}", "found"),
        ("Art. 4 Abs. 2: {}", "elsewhere"),
        ("§ 3 Abs. 2 Satz 1: {}", UNCHECKED),
        ("§ 4 Abs. 2 Satz 1: {}", "elsewhere"),
        ("{} (§ 4 Abs. 2)", "elsewhere"),
        ("Stelle\tZitat\n§ 4 Abs. 2\t{}", "elsewhere"),
    ],
)
def test_german_clauses_are_checked(answer: str, expected: str) -> None:
    assert verdict(MIETVERTRAG, answer.format(KAUTION)) == expected


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("Anlage 2", "found"),
        ("Annex 2", "found"),
        ("Schedule 1", "elsewhere"),
        ("Anlage 1", "elsewhere"),
        ("§ 4", UNCHECKED),
    ],
)
def test_an_annex_is_a_place_of_its_own(place: str, expected: str) -> None:
    assert verdict(MIETVERTRAG, f"{place}: {LAMPE}") == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Clause 4.2: {}", UNCHECKED),
        ("§ 3: {}", UNCHECKED),
        ("Article 3: {}", UNCHECKED),
        ("Under “Deposit”: {}", UNCHECKED),
        ("{} (4.2)", UNCHECKED),
        ("{} (page 1)", "found"),
        ("{} [1]", "found"),
        ("{}", "found"),
    ],
)
def test_a_text_without_numbers_cannot_tell_its_clauses(answer: str, expected: str) -> None:
    file = told("The tenant pays a deposit of 950 euros. Notice is three months.")
    assert verdict(file, answer.format(DEPOSIT)) == expected


def test_a_table_of_contents_is_not_the_text() -> None:
    file = told(
        "Contents\n\n1. Parties .... 1\n2. Deposit .... 2\n3. Notice .... 3\n\n1. Parties\n\n"
        "The landlord is Ann Berg.\n\n2. Deposit\n\nThe tenant pays a deposit of 950 euros, as in "
        "clause\n3 of this contract, and in clause\n1.1 it is said of all of them.\n\n3. Notice\n\n"
        "Notice is three months."
    )
    assert verdict(file, f"Clause 2: {DEPOSIT}") == "found"
    assert verdict(file, f"Clause 1: {DEPOSIT}") == "elsewhere"
    assert verdict(file, "Clause 2: “it is said of all of them”") == "found"
    assert verdict(file, "Clause 2: “Notice is three months”") == "elsewhere"


def test_a_list_within_a_clause_has_no_clauses() -> None:
    file = told(
        "1. Parties\n\nAll of them.\n\n2. Duties\n\n1. Clean the stairs daily.\n"
        "2. Repair the lamp weekly.\n3. Paint the wall.\n\n3. Deposit\n\nIt is 950 euros."
    )
    assert verdict(file, "Clause 1: “Repair the lamp weekly”") == "elsewhere"
    assert verdict(file, "Clause 2: “Repair the lamp weekly”") != "elsewhere"


def test_numbers_within_a_line_are_not_overlooked() -> None:
    file = told(
        "4.1 The tenant pays rent. 4.2 The tenant pays a deposit of 950 euros. 4.3 That is all.\n"
        "5.1 The end is near."
    )
    assert verdict(file, f"Clause 4.2: {DEPOSIT}") == UNCHECKED
    assert verdict(file, f"Clause 4.1: {DEPOSIT}") == UNCHECKED
    assert verdict(file, f"Clause 5.1: {DEPOSIT}") == "elsewhere"


def test_an_address_and_a_name_are_no_clauses() -> None:
    file = told(
        "1 Main Street\nLondon\n\nA. Berg writes to you.\n\n1. Parties\n\nAll of them are here.\n\n"
        "2. Deposit\n\nThe tenant pays a deposit of 950 euros."
    )
    assert verdict(file, f"Clause 2: {DEPOSIT}") == "found"
    assert verdict(file, f"Clause 1: {DEPOSIT}") == "elsewhere"


def test_articles_stand_in_chapters() -> None:
    file = told(
        "Chapter I\n\nArticle 1\n\nThe lamp is green.\n\nChapter II\n\nArticle 2\n\n"
        "The tenant pays a deposit of 950 euros."
    )
    assert verdict(file, f"Chapter II, Article 2: {DEPOSIT}") == "found"
    assert verdict(file, f"Chapter I, Article 2: {DEPOSIT}") == "elsewhere"
    assert verdict(file, f"Article 1: {DEPOSIT}") == "elsewhere"


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("第四条规定\uff1a「{}」", "found"),
        ("第4条\uff1a「{}」", "found"),
        ("第一条规定\uff1a「{}」", "elsewhere"),
        ("第9条\uff1a「{}」", "elsewhere"),
        ("第1页\uff1a「{}」", "found"),
        ("第2页\uff1a「{}」", "elsewhere"),
    ],
)
def test_chinese_articles_are_checked(answer: str, expected: str) -> None:
    file = told(
        "租赁合同\n\n第一条 当事人\n\n出租人为王明。\n\n第四条 押金\n\n承租人应支付押金950欧元。"
    )
    assert verdict(file, answer.format("承租人应支付押金950欧元")) == expected


MARKDOWN = told(
    "Lease\n\nAll is agreed here.",
    "Deposit\n\nThe tenant pays a deposit of 950 euros.",
    "Notice\n\nNotice is three months.",
    kind=DocumentKind.MARKDOWN,
    place=LocationKind.HEADING,
    titles=("Lease", "Deposit", "Notice"),
    name="a.md",
)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Under “Deposit”, {}", "found"),
        ("Under “Notice”, {}", "elsewhere"),
        ("Under “Lease”, {}", UNCHECKED),  # this heading may contain the others
        ("{} (a.md, Deposit)", "found"),
        ("{} (a.md, section 2)", "found"),
        ("{} (a.md, section 3)", "elsewhere"),
        ("Clause 4.2: {}", UNCHECKED),
    ],
)
def test_headings_are_places(answer: str, expected: str) -> None:
    assert verdict(MARKDOWN, answer.format(DEPOSIT)) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Sheet “Flat”: {}", "found"),
        ("In the Goods sheet: {}", "elsewhere"),
        ("Tabellenblatt Goods: {}", "elsewhere"),
        ("On sheet 2: {}", "elsewhere"),
        ("On the last sheet: {}", "elsewhere"),
        ("{} (a.xlsx, Goods)", "elsewhere"),
        ("Cell B2 has {}", UNCHECKED),
        ("Row 2, sheet Goods: {}", "elsewhere"),
    ],
)
def test_sheets_are_places(answer: str, expected: str) -> None:
    file = told(
        "Item\tCost\nRent\t950",
        "Item\tCost\nLamp\t12",
        kind=DocumentKind.XLSX,
        place=LocationKind.SHEET,
        titles=("Flat", "Goods"),
        name="a.xlsx",
    )
    assert verdict(file, answer.format("“Rent 950”")) == expected


TITLES = ("Parties", "Deposit", "Notice", "Repairs", "Pets", "Keys", "Insurance")
HEADINGS = {
    "1.": "{number}. {title}",
    "1": "{number} {title}",
    "§": "§ {number} {title}",
    "Article": "Article {number}",
    "Clause": "Clause {number} – {title}",
    "第": "第{number}条 {title}",
}
PLACES = {
    "§": ("§ {number}: {quote}", "Section {number}: {quote}", "{quote} (§ {number})"),
    "Article": ("Article {number} says {quote}", "{quote} (Art. {number})"),
    "第": ("第{number}条: {quote}",),
}
OTHER_PLACES = (
    "Clause {number} says {quote}",
    "Section {number}: {quote}",
    "{quote} (clause {number})",
    "Under “{title}”: {quote}",
)
PARTS = {"1.1": "{number}.{part} ", "(1)": "({part}) ", "1.": "{part}. ", "none": ""}


def contract(
    rng: random.Random, heading: str, part: str
) -> tuple[AttachedFile, list[tuple[int, str]]]:
    """Return a contract with references and other traps, and its sentences with their clauses."""
    lines: list[str] = []
    sentences: list[tuple[int, str]] = []
    if rng.random() < 0.3:
        lines += ["12 Baker Street", "London", ""]
    if rng.random() < 0.4:
        headings = (HEADINGS[heading].format(number=n, title=it) for n, it in enumerate(TITLES, 1))
        lines += ["Contents", "", *(f"{it} ..... {at}" for at, it in enumerate(headings)), ""]
    for number, title in enumerate(TITLES, 1):
        lines += [HEADINGS[heading].format(number=number, title=title), ""]
        for at in range(1, rng.randint(2, 5)):
            count = len(sentences) + 100
            said = f"The party number {count} keeps the item {count + 400} for some days"
            more = f", as in clause {rng.randint(1, 7)}.{rng.randint(1, 3)} and § {at} it is said"
            text = PARTS[part].format(number=number, part=at) + said
            text += f"{more}." if rng.random() < 0.4 else "."
            lines += [*textwrap.wrap(text, rng.choice((60, 300))), ""]
            sentences.append((number, said))
    return told("\n".join(lines)), sentences


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("heading", HEADINGS)
def test_no_quote_is_green_under_the_wrong_clause(heading: str, part: str) -> None:
    rng = random.Random(f"{heading}{part}")
    for _ in range(3):
        file, sentences = contract(rng, heading, part)
        check = CitationCheck([file])
        for number, said in sentences:
            for named in {number, rng.randint(1, len(TITLES)), len(TITLES) + 2}:
                form = rng.choice(PLACES.get(heading, OTHER_PLACES))
                title = (*TITLES, "", "Nothing")[named - 1]
                answer = form.format(number=named, title=title, quote=f"“{said}”")
                found = check.check(answer)[-1].verdict
                wrong = "found" if named != number else "elsewhere"
                assert found not in {wrong, "not_found"}, (answer, file.document.text)
