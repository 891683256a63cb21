"""Rewrites a question as people really type it, without changing its meaning."""

import re
from collections.abc import Callable
from random import Random

from guide import wording
from guide.synonyms import SYNONYMS

Rewrite = Callable[[str, Random], str]

_FORMS = tuple((re.compile(pattern, re.IGNORECASE), forms) for pattern, forms in wording.FORMS)
_DEFINITION = re.compile(wording.DEFINITION, re.IGNORECASE)


def _synonym_table() -> dict[str, tuple[str, ...]]:
    table: dict[str, set[str]] = {}
    for group in SYNONYMS:
        for word in group:
            table.setdefault(word, set()).update(other for other in group if other != word)
    return {word: tuple(sorted(others)) for word, others in table.items()}


_SYNONYMS = _synonym_table()
_SYNONYM = re.compile(
    r"\b(?:" + "|".join(sorted(map(re.escape, _SYNONYMS), key=len, reverse=True)) + r")\b",
    re.IGNORECASE,
)
_CONTRACTIONS = tuple(
    (re.compile(rf"\b{long}\b", re.IGNORECASE), short) for long, short in wording.CONTRACTIONS
)
_EXPANSIONS = tuple(
    (re.compile(rf"\b{short}\b", re.IGNORECASE), long) for long, short in wording.CONTRACTIONS
)
_CHATTY = re.compile(
    r"\b(?:" + "|".join(sorted(wording.CHATTY, key=len, reverse=True)) + r")\b", re.IGNORECASE
)


def augment(text: str, rng: Random, small_talk: bool = False) -> str:
    """Rewrite `text` at random; small talk gets no openers, closers or question forms."""
    if rng.random() < 0.1:
        return text
    for chance, rewrite in _SMALL_TALK_STEPS if small_talk else _STEPS:
        if rng.random() < chance:
            text = rewrite(text, rng)
    return text.strip() or "?"


def reform(text: str, rng: Random) -> str:
    """Put the question into another form: "what is X" as "X meaning", "how do I" as "how to"."""
    definition = _DEFINITION.match(text)
    if definition:
        return rng.choice(wording.DEFINITION_FORMS).format(definition["thing"])
    for pattern, forms in _FORMS:
        if match := pattern.match(text):
            return rng.choice(forms) + text[match.end() :]
    return text


def swap_synonyms(text: str, rng: Random) -> str:
    """Replace some words by others of the same meaning."""

    def replace(match: re.Match[str]) -> str:
        return rng.choice(_SYNONYMS[match[0].lower()]) if rng.random() < 0.5 else match[0]

    return _SYNONYM.sub(replace, text)


def contract(text: str, rng: Random) -> str:
    """Shorten forms such as "what is", or write out those such as "what's"."""
    for pattern, other in _CONTRACTIONS if rng.random() < 0.6 else _EXPANSIONS:
        text = pattern.sub(other, text)
    return text


def hurry(text: str, rng: Random) -> str:
    """Spell as in a hurried message: "u", "pls"."""

    def replace(match: re.Match[str]) -> str:
        return rng.choice(wording.CHATTY[match[0].lower()])

    return _CHATTY.sub(replace, text, count=rng.randint(1, 2))


def drop_words(text: str, rng: Random) -> str:
    """Leave out small words, and rarely one other word of a long question."""
    words = text.split()
    if len(words) < 3:
        return text
    kept = [w for w in words if w.lower() not in wording.DROPPABLE or rng.random() < 0.55]
    if len(kept) > 5 and rng.random() < 0.35:
        kept.pop(rng.randrange(len(kept)))
    return " ".join(kept) if kept else text


def swap_words(text: str, rng: Random) -> str:
    """Exchange two neighbouring words."""
    words = text.split()
    if len(words) > 2:
        at = rng.randrange(len(words) - 1)
        words[at], words[at + 1] = words[at + 1], words[at]
    return " ".join(words)


def opener(text: str, rng: Random) -> str:
    """Begin politely, or with a filler."""
    start = rng.choice(wording.OPENERS)
    keep_case = text[:2] in ("I ", "I'") or text[1:2].isupper()
    return start + (text if keep_case else text[:1].lower() + text[1:])


def closer(text: str, rng: Random) -> str:
    """End politely, or with a filler."""
    body = text.rstrip("?.! ")
    return body + rng.choice(wording.CLOSERS) + text[len(body) :].strip()


def punctuate(text: str, rng: Random) -> str:
    """Change the punctuation at the end, and sometimes inside."""
    body = text.rstrip("?.! ")
    if rng.random() < 0.25:
        body = body.replace("'", rng.choice(("", "’"))).replace(",", "")
    return body + rng.choice(("", "", "", "?", "?", ".", "!", "??", "...", " ?", "?!"))


def change_case(text: str, rng: Random) -> str:
    """Change to lower, upper, title or sentence case."""
    style = rng.random()
    if style < 0.55:
        return text.lower()
    if style < 0.85:
        return text[:1].upper() + text[1:]
    return text.upper() if style < 0.95 else text.title()


def mistype(text: str, rng: Random) -> str:
    """Add one or two typing errors in words of four letters and more."""
    for _ in range(1 if rng.random() < 0.7 else 2):
        words = list(re.finditer(r"[A-Za-z]{4,}", text))
        if not words:
            return text
        word = rng.choice(words)
        typed = _slip(word[0], rng)
        text = text[: word.start()] + typed + text[word.end() :]
    return text


def _slip(word: str, rng: Random) -> str:
    at = rng.randrange(1, len(word) - 1)
    kind = rng.random()
    if kind < 0.3:
        return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    if kind < 0.6:
        return word[:at] + word[at + 1 :]
    if kind < 0.75:
        return word[:at] + word[at] + word[at:]
    near = rng.choice(wording.NEIGHBOURS[word[at].lower()])
    return word[:at] + near + word[at + 1 :]


_STEPS: tuple[tuple[float, Rewrite], ...] = (
    (0.35, reform),
    (0.45, swap_synonyms),
    (0.25, contract),
    (0.25, drop_words),
    (0.05, swap_words),
    (0.22, opener),
    (0.18, closer),
    (0.08, hurry),
    (0.7, punctuate),
    (0.6, change_case),
    (0.2, mistype),
)

_SMALL_TALK_STEPS: tuple[tuple[float, Rewrite], ...] = (
    (0.15, swap_synonyms),
    (0.2, contract),
    (0.12, drop_words),
    (0.1, hurry),
    (0.7, punctuate),
    (0.6, change_case),
    (0.2, mistype),
)
