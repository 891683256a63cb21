"""Splitting an answer into sentences for a voice, however its pieces arrive."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.chats.answers.values.sentences import SentenceSplitter, Spoken

ANSWER = """\
Yes, e.g. with a list. It takes 3.5 s at most! Really?

## What to do

1. Open **the file**, see [the page](https://example.org/a.b).
- [x] Save it

```python
x = 1.  # no sentence.
```
Done. 最初の文。次の文"""

READ = [
    Spoken("Yes, e.g. with a list."),
    Spoken("It takes 3.5 s at most!"),
    Spoken("Really?"),
    Spoken("What to do"),
    Spoken("1. Open the file, see the page."),
    Spoken("Save it"),
    Spoken("python", is_code=True),
    Spoken("Done."),
    Spoken("最初の文。"),
    Spoken("次の文"),
]


def read(pieces: list[str]) -> list[Spoken]:
    splitter = SentenceSplitter()
    return [said for piece in pieces for said in splitter.feed(piece)] + splitter.end()


def test_sentences_are_read_without_their_markup() -> None:
    assert read([ANSWER]) == READ


@given(st.lists(st.integers(1, 30), max_size=40))
def test_it_does_not_matter_how_the_text_arrives(sizes: list[int]) -> None:
    pieces, rest = [], ANSWER
    for size in sizes:
        pieces.append(rest[:size])
        rest = rest[size:]
    assert read([*pieces, rest]) == READ


def test_a_sentence_is_said_as_soon_as_it_is_complete() -> None:
    splitter = SentenceSplitter()
    assert splitter.feed("One. Tw") == [Spoken("One.")]
    assert splitter.feed("o.") == []
    assert splitter.feed(" T") == [Spoken("Two.")]
    assert splitter.end() == [Spoken("T")]


def test_a_text_without_an_end_is_read_in_parts() -> None:
    splitter = SentenceSplitter()
    said = splitter.feed("word " * 200)
    assert said
    assert all(len(it.text) <= 400 for it in said)
    whole = " ".join(it.text for it in [*said, *splitter.end()])
    assert whole == ("word " * 200).strip()


@pytest.mark.parametrize("text", ["", "---\n", "* * *", "\n\n\n", "```"])
def test_what_says_nothing_is_not_read(text: str) -> None:
    assert [it for it in read([text]) if it.text] == []


@given(st.text(max_size=300))
def test_any_text_comes_to_an_end(text: str) -> None:
    read(list(text))
