"""The words by which a text is found, and the query for what a user types.

The index contains words as `app.chats.search.store.search` splits them: runs of ASCII letters and
digits, and runs of anything beyond ASCII.

Scripts without spaces are cut into overlapping pairs of letters, so that any two adjacent letters
are found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.search.folding import UNSPACED, fold

SIGNS = r"\x00-/:-`{-\x7f"
"""All of ASCII that is not part of words, as a class of a regular expression.

In folded text all other characters are part of words: any character beyond ASCII that is not has
become a space.
"""

_RUN = re.compile(rf"[{UNSPACED}]+|[^{SIGNS}{UNSPACED}]+")
_UNSPACED = re.compile(rf"[{UNSPACED}]+")
_WORD = re.compile(r"\w+")
_HUMP = re.compile(r"(?<=[^\W\d_A-Z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|_+")
_QUOTED = re.compile(r'"([^"]*)("?)|[^\s"]+')
_QUOTES = str.maketrans(dict.fromkeys("“”„«»", '"'))

_MOST_TERMS = 12
_LONGEST = 64
_LONGEST_NAME = 128
"""The longest name, in characters; longer ones are data, such as base64, with useless parts."""


@dataclass(frozen=True)
class Term:
    """Words that follow each other.

    Attributes:
        open: Whether the last word can continue, as while it is being typed.
        unspaced: Whether they are pairs of letters of a script without spaces, or one such letter.
    """

    words: tuple[str, ...]
    open: bool
    unspaced: bool = False


def words_of(text: str) -> tuple[str, str]:
    """Return the words of a text for the index, and the parts of the names in it.

    `getUserName` is found by its beginning and by that of each part, and as get_user_name; the
    latter also as getusername.
    """
    folded = fold(text)
    if not folded.isascii():
        folded = _UNSPACED.sub(lambda run: f" {in_pairs(run[0])} ", folded)
    if not _HUMP.search(text):
        return folded, ""
    names = (word for word in _WORD.findall(text) if len(word) <= _LONGEST_NAME)
    return folded, " ".join(_parts(name) for name in names if _HUMP.search(name))


def parse(typed: str) -> tuple[Term, ...]:
    """Parse a query into terms, all of which must be found; () if nothing can be searched for.

    Words in quotes must follow each other. Everything else is taken as words, never as syntax.
    """
    terms: list[Term] = []
    for part in _QUOTED.finditer(typed.translate(_QUOTES)):
        quoted = part[1] is not None
        text = fold(part[1] if quoted else part[0])
        terms += _terms(text, may_go_on=not (quoted and part[2]))
    return tuple(dict.fromkeys(terms))[:_MOST_TERMS]


def match_of(terms: tuple[Term, ...]) -> str:
    """Return the terms as a query of SQLite's FTS5; they contain letters and digits only."""
    return " AND ".join(f'"{" ".join(term.words)}"{" *" if term.open else ""}' for term in terms)


def _terms(folded: str, *, may_go_on: bool) -> list[Term]:
    """Split folded text into terms: each run of an unspaced script, and the words in between."""
    terms: list[Term] = []
    words: list[str] = []
    runs = list(_RUN.finditer(folded))
    for run in runs:
        if _UNSPACED.match(run[0]):
            if words:
                terms.append(Term(tuple(words), False))
                words = []
            terms.append(_unspaced(run[0]))
        else:
            words.append(run[0][:_LONGEST])
    if words:
        # A single letter begins too many words to be useful.
        typing = may_go_on and runs[-1].end() == len(folded) and len(words[-1]) > 1
        terms.append(Term(tuple(words), typing))
    return terms


def _unspaced(run: str) -> Term:
    pairs = tuple(run[place : place + 2] for place in range(len(run) - 1))
    return Term(pairs[:_LONGEST] or (run,), open=len(run) == 1, unspaced=True)


def in_pairs(run: str) -> str:
    """Cut a run into overlapping pairs and the last letter, so that every letter begins a word."""
    return " ".join(run[place : place + 2] for place in range(len(run)))


def _parts(name: str) -> str:
    """Return a name's parts, and the words that the parts from each one on form together."""
    parts = [fold(part) for part in _HUMP.split(name) if part]
    endings = ["".join(parts[first:]) for first in range(0 if "_" in name else 1, len(parts) - 1)]
    return " ".join((*parts, *endings))
