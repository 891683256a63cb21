"""The conversion of markdown's inline part into spans of one style each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from markdown_it.token import Token

from app.markdown.blocks import Span
from app.markdown.local_files import local_path

LINE_BREAK = "\u2028"
_OPENABLE = ("http://", "https://", "mailto:")
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
_STYLES = {"strong", "em", "s"}


def is_openable(address: str) -> bool:
    """Return whether a browser or a mail program opens addresses of this kind."""
    return address.lower().startswith(_OPENABLE)


def is_elsewhere(address: str) -> bool:
    """Return whether an address has a scheme or a host, and so leaves the page's own folder."""
    return bool(_ELSEWHERE.match(address))


def spans_of(tokens: Sequence[Token]) -> tuple[Span, ...]:
    """Return the spans of inline tokens; neighbours of the same style are joined."""
    spans: list[Span] = []
    style = Span("")
    for token in tokens:
        name, _, end = token.type.rpartition("_")
        if name in _STYLES:
            style = _switched(style, name, end == "open")
        elif token.type == "link_open":
            address = str(token.attrGet("href") or "")
            leads = is_openable(address) or (token.meta.get("page") and not is_elsewhere(address))
            style = replace(style, href=address if leads else "")
        elif token.type == "link_close":
            style = replace(style, href="")
        else:
            _join(spans, _span(token, style))
    return tuple(spans)


def _switched(style: Span, name: str, on: bool) -> Span:
    if name == "strong":
        return replace(style, bold=on)
    return replace(style, italic=on) if name == "em" else replace(style, strike=on)


def _span(token: Token, style: Span) -> Span:
    if token.type in {"softbreak", "hardbreak"}:
        return replace(style, text=LINE_BREAK)
    if token.type == "code_inline":
        return replace(style, text=token.content, code=True)
    if token.type == "math_inline":
        display = token.markup == "display"
        return replace(style, text=token.content, math="display" if display else "inline")
    if token.type == "footnote_ref":
        number = str(token.meta["id"] + 1)
        return Span(number, note=number)
    if token.type == "image":
        return _picture(token, style)
    return replace(style, text=token.content)


def _picture(token: Token, style: Span) -> Span:
    """Make a span for a picture. Nothing is fetched: a picture elsewhere becomes a link."""
    address = str(token.attrGet("src") or "")
    words = "".join(child.content for child in token.children or []) or address
    href = address if is_openable(address) else style.href
    return replace(style, text=words, href=href, picture=local_path(address))


def _join(spans: list[Span], span: Span) -> None:
    if not span.text:
        return
    if spans and _style(spans[-1]) == _style(span) and not (span.math or span.note or span.picture):
        spans[-1] = replace(span, text=spans[-1].text + span.text)
    else:
        spans.append(span)


def _style(span: Span) -> tuple[object, ...]:
    """Return all properties of a span but its text."""
    return (
        span.bold,
        span.italic,
        span.strike,
        span.code,
        span.href,
        span.math,
        span.note,
        span.picture,
    )
