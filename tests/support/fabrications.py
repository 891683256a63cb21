"""Documents with planted facts, true quotes from them, and fabrications of many kinds."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

NAMES = ("Berg", "Okafor", "Lindqvist", "Marchetti", "Sørensen", "Kowalczyk", "Dubois", "Flemming")
CITIES = ("Ulm", "Lyon", "Bergen", "Graz", "Utrecht", "Porto", "Leeds", "Fiesole")
THINGS = ("kiln", "deposit", "flue", "workshop", "Vertrag", "Straßenlaterne", "Miete", "Auffahrt")
UNITS = {
    "euros": "pounds",
    "Euro": "Franken",
    "percent": "percentage points",
    "Prozent": "Promille",
    "degrees": "kelvin",
    "hours": "minutes",
    "Stunden": "Tage",
    "kilometres": "miles",
    "%": "‰",
}
OPPOSITES = {
    "not": "",
    "nicht": "",
    "kein": "ein",
    "never": "always",
    "before": "after",
    "nach": "vor",
    "only": "not only",
    "non-refundable": "refundable",
    "at least": "at most",
    "mindestens": "höchstens",
}
SENTENCES = (
    "On {day} May {year}, {name} moved the {thing} to {city} for {sum} euros and did not return.",
    "Die {thing} in {city} kostet {summe} Euro und gehört nicht der Familie {name}.",
    "The {thing} may not be opened before {day} hours, unless {name} of {city} agrees in writing.",
    "Seit dem {day}. Mai {year} zahlt {name} in {city} mindestens {share} % der Kosten.",
    "The fee for the {thing} is non-refundable and rises by {share} percent after {day} hours.",
    "{name} said that the office in {city} had “never seen” such an efficient flue in {year}.",
    "Der Ofen in {city} darf nach {day} Stunden nur von {name} geöffnet werden, bei -{share} °C.",
    "Between {city} and the {thing} lie {sum} kilometres; {name} has walked at least {day}.",
)


@dataclass(frozen=True)
class Fabrication:
    """An answer with a false quote, or with a quote that is not at the named place.

    Attributes:
        kind: How it was made.
        answer: The sentence with the quote.
    """

    kind: str
    answer: str


def made_pages(rng: random.Random, count: int, each: int = 7) -> list[list[str]]:
    """Return pages of sentences, each of which occurs once."""
    return [[made_sentence(rng, page * each + at) for at in range(each)] for page in range(count)]


def made_sentence(rng: random.Random, number: int) -> str:
    whole, part = rng.randint(2, 9), rng.randint(100, 999)
    said = SENTENCES[number % len(SENTENCES)].format(
        day=rng.randint(10, 28),
        year=1990 + number % 35,
        name=rng.choice(NAMES),
        thing=rng.choice(THINGS),
        city=rng.choice(CITIES),
        sum=f"{whole},{part}",
        summe=f"{whole}.{part}",
        share=rng.randint(11, 98),
    )
    return f"{said} That is clause {number}."


def true_answer(rng: random.Random, pages: Sequence[Sequence[str]], file: str) -> str:
    """Return a sentence with a true quote of 4 to 25 words, and its place."""
    page = rng.randrange(len(pages))
    words = " ".join(pages[page]).split(" ")
    start = rng.randrange(len(words) - 6)
    end = min(len(words), start + rng.randint(4, 25))
    while end < len(words) and re.fullmatch(r"-?\d+", words[end - 1]):
        end += 1  # “11” of “11 %” is no true quote
    return written(" ".join(words[start:end]), page + 1, file)


def written(quote: str, page: int, file: str) -> str:
    quote = quote.replace("“", '"').replace("”", '"')
    return f"So it says „{quote}“ ({file}, page {page})."


def fabrication(
    rng: random.Random, pages: Sequence[Sequence[str]], file: str
) -> Fabrication | None:
    """Make a fabrication of a random kind; return None if nothing in it became false."""
    kind = rng.choice(tuple(_KINDS))
    page = rng.randrange(len(pages))
    answer = _KINDS[kind](rng, pages, page, file)
    return Fabrication(kind, answer) if answer else None


def kinds() -> set[str]:
    return set(_KINDS)


_Maker = Callable[[random.Random, Sequence[Sequence[str]], int, str], str]


def _of_words(change: Callable[[random.Random, list[str]], list[str] | None]) -> _Maker:
    """Change the words of a whole sentence, and quote a part around the change."""

    def make(rng: random.Random, pages: Sequence[Sequence[str]], page: int, file: str) -> str:
        words = rng.choice(pages[page]).split(" ")
        changed = change(rng, list(words))
        if changed is None:
            return ""
        first = next((at for at, it in enumerate(changed) if words[at : at + 1] != [it]), None)
        if first is None:
            return ""
        start = max(0, first - rng.randint(1, 5))
        quote = " ".join(changed[start : first + rng.randint(3, 8)])
        if quote in " ".join(" ".join(it) for it in pages) or len(quote.split()) < 2:
            return ""
        return written(quote, page + 1, file)

    return make


def _numbers(words: Sequence[str]) -> list[int]:
    return [at for at, word in enumerate(words) if re.search(r"\d", word)]


def _other_digit(rng: random.Random, words: list[str]) -> list[str]:
    at = rng.choice(_numbers(words))
    digits = [it.start() for it in re.finditer(r"\d", words[at])]
    place = rng.choice(digits)
    digit = str((int(words[at][place]) + rng.randint(1, 8)) % 10)
    words[at] = words[at][:place] + digit + words[at][place + 1 :]
    return words


def _digit_more_or_less(rng: random.Random, words: list[str]) -> list[str]:
    at = rng.choice(_numbers(words))
    found = re.search(r"\d+", words[at])
    assert found is not None
    number = found[0]
    new = (
        number[1:] if len(number) > 1 and rng.random() < 0.5 else number + rng.choice("0123456789")
    )
    words[at] = words[at].replace(number, new, 1)
    return words


def _other_format(rng: random.Random, words: list[str]) -> list[str] | None:
    """Write 1,250 as 1.250, 1250, 1,25 or 12,50: each is another number somewhere."""
    fitting = [at for at in _numbers(words) if re.search(r"\d[.,]\d{3}", words[at])]
    if not fitting:
        return None
    at = rng.choice(fitting)
    word = words[at]
    swapped = word.translate({ord(","): ".", ord("."): ","})
    groups = re.sub(r"(\d)[.,](\d{3})", r"\1 \2", word)
    bare = re.sub(r"(\d)[.,](\d)", r"\1\2", word)
    moved = re.sub(r"(\d)([.,])(\d)", r"\1\3\2", word)
    words[at] = rng.choice((swapped, groups, bare, moved, re.sub(r"[.,]\d{3}", "", word)))
    return words


def _other_unit(_rng: random.Random, words: list[str]) -> list[str] | None:
    for at, word in enumerate(words):
        bare = word.strip(".,")
        if bare in UNITS:
            words[at] = word.replace(bare, UNITS[bare])
            return words
    return None


def _other_name(rng: random.Random, words: list[str]) -> list[str] | None:
    for group in rng.sample((NAMES, CITIES, THINGS), 3):
        for at, word in enumerate(words):
            bare = word.strip(".,")
            if bare in group:
                words[at] = word.replace(bare, rng.choice([it for it in group if it != bare]))
                return words
    return None


def _negation_put_in(rng: random.Random, words: list[str]) -> list[str]:
    at = rng.randrange(1, len(words))
    return [*words[:at], rng.choice(("not", "nicht", "never", "kein", "no")), *words[at:]]


def _meaning_turned(_rng: random.Random, words: list[str]) -> list[str] | None:
    text = " ".join(words)
    for one, other in OPPOSITES.items():
        found = re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text)
        if found:
            turned = f"{text[: found.start()]}{other}{text[found.end() :]}"
            return turned.replace("  ", " ").split(" ")
    return None


def _words_swapped(rng: random.Random, words: list[str]) -> list[str]:
    at = rng.randrange(len(words) - 1)
    words[at], words[at + 1] = words[at + 1], words[at]
    return words


def _word_left_out(rng: random.Random, words: list[str]) -> list[str]:
    del words[rng.randrange(1, len(words) - 1)]
    return words


def _other_case(rng: random.Random, words: list[str]) -> list[str]:
    at = rng.randrange(len(words))
    words[at] = words[at].swapcase()
    return words


def _cut_number_or_word(
    rng: random.Random, pages: Sequence[Sequence[str]], page: int, file: str
) -> str:
    """Make a quote that begins or ends in the middle of a word or a number."""
    text = rng.choice(pages[page])
    places = [it.start() for it in re.finditer(r"(?<=[\w.,%-])(?=[\w%])", text)]
    inside = [at for at in places if re.match(r"\w[.,-]?\w|\d[.,]", text[at - 1 : at + 2])]
    if not inside:
        return ""
    at = rng.choice(inside)
    quote = text[at : at + 40] if rng.random() < 0.5 else text[max(0, at - 40) : at]
    words = quote.split(" ")
    quote = " ".join(words[:-1] if quote == text[at : at + 40] else words[1:])
    whole = " ".join(" ".join(it) for it in pages)
    if len(quote.split()) < 2 or re.search(rf"(?<![\w.,%-]){re.escape(quote)}(?![\w%.,-])", whole):
        return ""
    return written(quote, page + 1, file)


def _without_unit(rng: random.Random, pages: Sequence[Sequence[str]], page: int, file: str) -> str:
    """Quote “at least 11” from “at least 11 %”."""
    text = rng.choice(pages[page])
    found = re.search(r"(\S+ \S+ \d+) ?%", text)
    return written(found[1], page + 1, file) if found else ""


def _spliced(rng: random.Random, pages: Sequence[Sequence[str]], page: int, file: str) -> str:
    """Join the beginning of a sentence and the end of another, from the same page or two pages."""
    near = rng.random() < 0.5
    one, other = (
        rng.sample(pages[page], 2)
        if near
        else (rng.choice(pages[page]), rng.choice(pages[(page + 1) % len(pages)]))
    )
    first, second = one.split(" ")[: rng.randint(3, 8)], other.split(" ")[-rng.randint(4, 9) :]
    between = rng.choice(([], ["…"], ["[…]"], ["..."]))
    quote = " ".join([*first, *between, *second])
    if quote in " ".join(" ".join(it) for it in pages):
        return ""
    return written(quote, page + 1, file)


def _other_page(rng: random.Random, pages: Sequence[Sequence[str]], page: int, file: str) -> str:
    """Make a true quote, and name an earlier or later page for it."""
    quote = " ".join(rng.choice(pages[page]).split(" ")[:-4]).replace("“", '"').replace("”", '"')
    named = (page + rng.randrange(1, len(pages))) % len(pages) + 1
    forms = (
        f"So „{quote}“ ({file}, page {named}).",
        f"So „{quote}“, see p. {named}.",
        f"On page {named} of {file} it says „{quote}“.",
        f"Auf Seite {named} steht: „{quote}“.",
        f"Laut {file}, S. {named}, gilt „{quote}“ bis heute.",
        f"Es heißt „{quote}“. ({file}, Seite {named})",
        f"It says „{quote}“. {file}, page {named}.",
    )
    return rng.choice(forms)


def _other_file(rng: random.Random, pages: Sequence[Sequence[str]], page: int, file: str) -> str:
    """Make a true quote, and name another file for it, perhaps with a similar name."""
    quote = " ".join(rng.choice(pages[page]).split(" ")[:-4]).replace("“", '"').replace("”", '"')
    other = rng.choice((f"my{file}", "other.pdf", "notes.txt", f"{file}.docx", f"old_{file}"))
    return rng.choice(
        (f"So „{quote}“ ({other}, page {page + 1}).", f"In {other} it says „{quote}“.")
    )


_KINDS: dict[str, _Maker] = {
    "other digit": _of_words(_other_digit),
    "digit more or less": _of_words(_digit_more_or_less),
    "other format": _of_words(_other_format),
    "other unit": _of_words(_other_unit),
    "other name": _of_words(_other_name),
    "negation put in": _of_words(_negation_put_in),
    "meaning turned": _of_words(_meaning_turned),
    "words swapped": _of_words(_words_swapped),
    "word left out": _of_words(_word_left_out),
    "other case": _of_words(_other_case),
    "cut": _cut_number_or_word,
    "without unit": _without_unit,
    "spliced": _spliced,
    "other page": _other_page,
    "other file": _other_file,
}
