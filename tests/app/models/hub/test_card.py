"""Making a README safe to show."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from app.models.hub.card import LONGEST, safe_card

CARD = """---
license: apache-2.0
tags: [gguf]
---
<div align="center"><img src="https://evil.example/track.png" onerror="alert(1)"></div>

# A *good* model

![Chart](https://evil.example/chart.png) and [![Badge](https://evil.example/b.svg)](https://good.example/)

Text with <b>bold</b> html, `code <b>` and https://bare.example/.

- one
- two
  1. first
  2. second

> quoted
> twice

| a | b |
|---|:-:|
| 1 | `x \\| y` |

```python
print("<script>")
```

<script>alert(1)</script>

[local](./LICENSE) [mail](mailto:a@b.example) [js](javascript:alert(1)) [web](https://w.example/a_(b)).
"""


def test_a_card_keeps_what_can_be_read() -> None:
    text = safe_card(CARD)
    assert text.startswith("# A *good* model")
    assert "license" not in text
    assert "[Chart](https://evil.example/chart.png) and [Badge](https://good.example/)" in text
    assert "Text with bold html, `code <b>`" in text
    assert "- one\n- two\n  1. first\n  2. second" in text
    assert "> quoted twice" in text
    assert "| a | b |\n| --- | --- |\n| 1 | `x \\| y` |" in text
    assert '```python\nprint("<script>")\n```' in text
    assert "<script>" not in text.replace('print("<script>")', "")
    assert "local mail \\[js\\](javascript:alert(1))" in text, "no link, so only its letters"
    assert "[web](<https://w.example/a_(b)>)" in text


def test_a_card_shows_the_same_when_it_is_made_safe_again() -> None:
    once = safe_card(CARD)
    assert safe_card(once) == once


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x>",
        "![a](https://a.example/b.png)",
        '<a href="https://a.example">x</a>',
        "[x]: https://a.example/x.png\n\n![x]",
        "[a](data:text/html,x)",
        "<https://a.example/>",
        "&lt;img src=x&gt;",
        "\\<img src=x>",
        "a\n\n<!-- c -->\n\nb",
        "~~~html\n<b>\n~~~",
        "# <b>x</b>",
        "<b># x",
        "1\\. x",
        "x\\\n\\# y",
    ],
)
def test_nothing_is_loaded_or_run_and_the_meaning_stays(text: str) -> None:
    safe = safe_card(text)
    tokens = MarkdownIt("commonmark").parse(safe)
    kinds = {it.type for token in tokens for it in [token, *(token.children or [])]}
    assert not kinds & {"image", "html_block", "html_inline"}
    assert safe_card(safe) == safe


def test_control_characters_do_not_reach_a_terminal() -> None:
    assert safe_card("a\x1b[2Jb\u202ec\x9bd\te") == "a\\[2Jbcd\te"


def test_a_long_card_is_cut_between_blocks() -> None:
    text = safe_card("word " * 20 + "\n\n" + "\n\n".join(["x" * 1000] * 200))
    assert len(text) <= LONGEST + 200
    assert text.endswith("\n\n…")


def test_a_card_of_nothing_but_facts_is_empty() -> None:
    assert safe_card("---\nlicense: mit\n---\n") == ""
    assert safe_card("") == ""


@given(st.text(alphabet="ab<>!&[]()*_`~#|-+=.1 \n\\:/\"'", max_size=80))
def test_no_text_makes_html_or_pictures(text: str) -> None:
    for mode in ("commonmark", "gfm-like"):
        options = {"linkify": False} if mode == "gfm-like" else {}
        html = MarkdownIt(mode, {**options, "html": True}).render(safe_card(text))
        made = set(re.findall(r"</?([a-z0-9]+)", html))
        assert made <= {
            "p", "em", "strong", "s", "code", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol",
            "li", "blockquote", "hr", "a", "br", "table", "thead", "tbody", "tr", "th", "td",
        }  # fmt: skip
