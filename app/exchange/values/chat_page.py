"""Writes chats as one HTML page that is readable on screen and on paper, and loads nothing."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from html import escape

from app.chats.history.values.conversation import StoredMessage
from app.documents.citations.values import Citation
from app.documents.values.documents import Document
from app.exchange.values.export import (
    ExportedChat,
    ExportOptions,
    attached_words,
    failure_words,
    speaker,
    strands,
    verdict_words,
)
from app.markdown.blocks import SIGNS, Block
from app.markdown.html import DrawFormula, html_of
from app.markdown.parser import Parser
from app.markdown.reading import MarkedPart, marked
from app.markdown.typeset import typeset

FORMULA_SIZE = 17.0
"""Size of formulas in pixels."""

_PICTURE_SIZE = 420
"""Longest side of a picture, in pixels."""

_CODE = """
.keyword { color: #8f3f71; } .string { color: #4b6b1f; } .number { color: #9a4a00; }
.comment { color: #6b6f76; } .name { color: #1f5f99; } .operator { color: #5b5f66; }
"""
_SCREEN = """
:root { color-scheme: light dark; --ink: #1f2328; --muted: #62676e; --paper: #ffffff;
  --panel: #f3f1ee; --line: #d9d5cf; --accent: #b0481e; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 46rem; padding: 3rem 1.5rem 5rem; color: var(--ink);
  background: var(--paper); font: 17px/1.6 system-ui, "Segoe UI", "Noto Sans", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.25; margin: 0 0 .3rem; }
h2.who { font-size: .8rem; letter-spacing: .06em; text-transform: uppercase; color: var(--muted);
  margin: 0 0 .4rem; }
h2.branch { font-size: 1.2rem; margin: 4rem 0 1rem; padding-top: 1.5rem;
  border-top: 2px solid var(--line); }
h3, h4, h5, h6 { line-height: 1.3; margin: 1.4em 0 .5em; }
p { margin: .7em 0; overflow-wrap: anywhere; } p.tight { margin-top: -.5em; }
a { color: var(--accent); }
.about { color: var(--muted); margin: 0 0 2.5rem; }
article { margin: 0 0 2rem; }
article.user { background: var(--panel); border-radius: 14px; padding: 1rem 1.3rem; }
article > :last-child { margin-bottom: 0; }
details { border-left: 3px solid var(--line); padding-left: 1rem; color: var(--muted); }
summary { cursor: pointer; }
blockquote { margin: .7em 0; padding-left: 1rem; border-left: 3px solid var(--line);
  color: var(--muted); }
code, pre { font: .88em/1.5 ui-monospace, "Cascadia Mono", "DejaVu Sans Mono", monospace; }
code { background: var(--panel); border-radius: 4px; padding: .1em .3em; }
pre { background: var(--panel); border-radius: 10px; padding: 1rem; overflow-x: auto; }
article.user code, article.user pre { background: var(--paper); }
table { border-collapse: collapse; display: block; overflow-x: auto; margin: 1em 0; }
th, td { border: 1px solid var(--line); padding: .4em .8em; }
th { background: var(--panel); }
hr { border: 0; border-top: 1px solid var(--line); margin: 2em 0; }
svg, img { max-width: 100%; } img { border-radius: 10px; }
p.display { text-align: center; overflow-x: auto; }
span.found { text-decoration: underline; text-decoration-color: #3f8a50; }
span.place_unchecked { text-decoration: underline dotted #62676e; }
span.elsewhere { text-decoration: underline dashed #a86d00; }
span.not_found { text-decoration: underline wavy #b3261e; }
ul.quotes { color: var(--muted); font-size: .88em; padding-left: 1.2em; list-style: none; }
ul.quotes span { text-decoration: none; }
section + section > h1 { margin-top: 6rem; }
""" + _CODE  # fmt: skip
_DARK = """
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e9e6e1; --muted: #a5a099; --paper: #1b1a19; --panel: #282624; --line: #43403c;
    --accent: #f0946a; }
  .keyword { color: #d9a0d0; } .string { color: #b5cf8a; } .number { color: #e6ab78; }
  .comment { color: #98938b; } .name { color: #8fc1ee; } .operator { color: #b9b4ac; }
}
@media print {
  body { max-width: none; padding: 0; font-size: 11pt; }
  pre { white-space: pre-wrap; overflow-wrap: anywhere; }
  article.user { border: 1px solid var(--line); background: none; }
  h1, h2, h3, h4 { break-after: avoid; } pre, table, blockquote, svg { break-inside: avoid; }
  section + section { break-before: page; } section + section > h1 { margin-top: 0; }
}
"""
_PAPER = """
body { font-family: sans-serif; font-size: 10pt; color: #1f2328; }
h1 { font-size: 18pt; } h2.branch { font-size: 13pt; }
h3 { font-size: 12pt; } h4, h5, h6 { font-size: 10pt; }
.about, blockquote, .reasoning, .quotes { color: #62676e; }
.found { color: #286537; } .place_unchecked { color: #62676e; }
.elsewhere { color: #855600; } .not_found { color: #b3261e; }
p { margin-top: 4px; margin-bottom: 8px; }
p.who { font-weight: bold; color: #b0481e; margin-top: 18px; } p.tight { margin-top: -4px; }
code { font-family: monospace; font-size: 9pt; }
pre { font-family: monospace; font-size: 9pt; background-color: #f3f1ee; white-space: pre-wrap;
  margin-top: 8px; margin-bottom: 10px; }
table { margin-top: 8px; margin-bottom: 10px; }
th { background-color: #f3f1ee; } a { color: #b0481e; }
""" + _CODE  # fmt: skip
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def page(chats: Sequence[ExportedChat], options: ExportOptions) -> str:
    """Return a complete file for a browser."""
    body = "\n".join(_chat(exported, options, _svg, folds=True) for exported in chats)
    title = escape(chats[0].chat.title if len(chats) == 1 else "Chats")
    return (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_SCREEN}{_DARK}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def paper(exported: ExportedChat, options: ExportOptions, draw: DrawFormula) -> str:
    """Return HTML for Qt's text document.

    Args:
        draw: Returns the HTML of a formula.
    """
    return f"<style>{_PAPER}</style>\n{_chat(exported, options, draw, folds=False)}"


def _chat(exported: ExportedChat, options: ExportOptions, draw: DrawFormula, *, folds: bool) -> str:
    chat, parser = exported.chat, Parser()
    documents = {document.sha256: document for document in exported.documents}
    about = f"{_day(chat.created)} · {len(exported.messages):,} messages"
    parts = [f"<h1>{escape(chat.title)}</h1>", f'<p class="about">{escape(about)}</p>']
    for number, strand in enumerate(strands(chat, exported.messages, branches=options.branches)):
        if number:
            words = escape(f"Branch {number}, after “{strand.after}”")
            parts.append(f'<h2 class="branch">{words}</h2>')
        parts += _messages(
            strand.messages, documents, exported.quotes, options, parser, draw, folds=folds
        )
    return "<section>\n" + "\n".join(parts) + "\n</section>"


def _messages(
    messages: Iterable[StoredMessage],
    documents: Mapping[str, Document],
    quotes: Mapping[str, Sequence[Citation]],
    options: ExportOptions,
    parser: Parser,
    draw: DrawFormula,
    *,
    folds: bool,
) -> Iterable[str]:
    for message in messages:
        yield f'<article class="{escape(message.role)}">'
        tag = "h2" if folds else "p"
        yield f'<{tag} class="who">{escape(speaker(message))}</{tag}>'
        if options.reasoning and message.reasoning.strip():
            reasoning = html_of(parser.parse(message.reasoning), draw)
            if folds:
                yield f"<details><summary>Reasoning</summary>\n{reasoning}\n</details>"
            else:
                title = "<p><b>Reasoning</b></p>"
                yield f'<blockquote class="reasoning">{title}{reasoning}</blockquote>'
        yield html_of(_marked(parser.parse(message.text), quotes.get(message.id, ())), draw)
        if listed := quotes.get(message.id):
            yield _quotes(listed)
        yield from _pictures(message, documents)
        if attached := attached_words(message):
            yield f'<p class="about">{escape(attached)}</p>'
        if failure := failure_words(message):
            yield f"<blockquote><p>{escape(failure)}</p></blockquote>"
        yield "</article>"


def _pictures(message: StoredMessage, documents: Mapping[str, Document]) -> Iterable[str]:
    """Yield the HTML of the pictures that go with a message."""
    for attachment in message.attachments:
        document = documents.get(attachment.sha256)
        if document is None or document.medium is None or document.medium.kind != "image":
            continue
        form = "png" if document.media.startswith(b"\x89PNG") else "jpeg"
        data = base64.b64encode(document.media).decode("ascii")
        width, height = max(1, document.width), max(1, document.height)
        width = round(width * min(1, _PICTURE_SIZE / max(width, height)))
        yield (
            f'<p><img width="{width}" alt="{escape(attachment.name)}"'
            f' src="data:image/{form};base64,{data}"></p>'
        )


def _marked(blocks: Sequence[Block], quotes: Sequence[Citation]) -> Sequence[Block]:
    """Mark the checked quotes of an answer."""
    if not quotes:
        return blocks
    marks = (
        MarkedPart(quote.start, quote.end, quote.verdict, at) for at, quote in enumerate(quotes, 1)
    )
    return marked(blocks, tuple(marks))


def _quotes(quotes: Sequence[Citation]) -> str:
    """Return a list of checked quotes, each with its verdict."""
    lines = (
        f'<li><span class="{quote.verdict}">{SIGNS[quote.verdict]}</span> '
        f"“{escape(quote.quote)}”: {escape(verdict_words(quote))}</li>"
        for quote in quotes
    )
    return f'<ul class="quotes">{"".join(lines)}</ul>'


def _svg(latex: str, inline: bool) -> str:
    """Return a formula as SVG in the text's colour; screen readers read its source."""
    drawn = typeset(latex, FORMULA_SIZE, "currentColor", inline=inline)
    if drawn is None:
        return ""
    svg = drawn.svg.decode()
    begin = svg.index("<svg") + len("<svg")
    named = (
        f' role="img" aria-label="{escape(latex)}" fill="currentColor"'
        f' style="vertical-align:{-drawn.descent:.2f}px"'
    )
    return svg[:begin] + named + svg[begin:]


def _day(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M")
