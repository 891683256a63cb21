"""Makes a repository's README safe to show, as markdown without HTML, with pictures as links: pure.

The text is parsed, and only blocks of known kinds are written again, so nothing else can get in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.front_matter import front_matter_plugin

LONGEST: Final = 40_000
"""The most characters of a card that are shown; the rest is benchmarks and boilerplate."""

_READ: Final = 4 * LONGEST
# Control characters can move a terminal's cursor; the others change the direction of the text.
_UNSEEN: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SPECIAL: Final = re.compile(r"[\\`*\[\]<~|]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])|&(?=[#A-Za-z])")
_STARTS_BLOCK: Final = re.compile(r"^(?=#{1,6}(?:\s|$)|[-+>=])", re.MULTILINE)
_UNESCAPED_BAR: Final = re.compile(r"(?<!\\)\|")
_STARTS_LIST: Final = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))", re.MULTILINE)


def safe_card(text: str) -> str:
    """Write the card as safe markdown; return an empty string if it has nothing to read."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"]).use(front_matter_plugin)
    text = _UNSEEN.sub("", text[:_READ].replace("\r\n", "\n"))
    blocks: list[str] = []
    remaining = LONGEST
    for node in SyntaxTreeNode(parser.parse(text)).children:
        block = _block(node)
        remaining -= len(block)
        if remaining < 0:
            blocks.append("…")
            break
        if block:
            blocks.append(block)
    return "\n\n".join(blocks)


def _block(node: SyntaxTreeNode) -> str:
    """Write a block as markdown; return an empty string for kinds that are not shown."""
    write = _BLOCKS.get(node.type)
    return write(node) if write else ""


def _blocks(nodes: Iterable[SyntaxTreeNode], between: str = "\n\n") -> str:
    return between.join(filter(None, map(_block, nodes)))


def _heading(node: SyntaxTreeNode) -> str:
    return f"{'#' * int(node.tag[1:])} {_line(node)}".rstrip()


def _paragraph(node: SyntaxTreeNode) -> str:
    """Write a paragraph, escaped so that no line becomes a heading, list or quotation."""
    return _STARTS_LIST.sub(r"\1\\", _STARTS_BLOCK.sub(r"\\", _line(node)))


def _code(node: SyntaxTreeNode) -> str:
    fence = "`" * max(3, _longest_ticks(node.content) + 1)
    language = re.findall(r"^[\w+#-]+", node.info.strip())
    return f"{fence}{''.join(language)}\n{node.content.rstrip()}\n{fence}"


def _longest_ticks(content: str) -> int:
    return max(map(len, re.findall(r"`+", content)), default=0)


def _quote(node: SyntaxTreeNode) -> str:
    return _indented(_blocks(node.children), "> ", "> ")


def _bullets(node: SyntaxTreeNode) -> str:
    return _list(node, ["-"] * len(node.children))


def _numbered(node: SyntaxTreeNode) -> str:
    first = int(node.attrs.get("start", 1))
    return _list(node, [f"{first + count}." for count in range(len(node.children))])


def _list(node: SyntaxTreeNode, markers: Iterable[str]) -> str:
    tight = all(part.hidden for part in node.walk() if part.type == "paragraph")
    between = "\n" if tight else "\n\n"
    items = [
        _indented(_blocks(item.children, between), f"{marker} ", " " * (len(marker) + 1))
        for marker, item in zip(markers, node.children, strict=True)
    ]
    return between.join(items)


def _indented(text: str, first: str, other_prefix: str) -> str:
    return (first + text.replace("\n", f"\n{other_prefix}")).rstrip()


def _table(node: SyntaxTreeNode) -> str:
    rows = [
        [_UNESCAPED_BAR.sub(r"\\|", _line(cell)) for cell in row.children]
        for part in node.children
        for row in part.children
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])


def _line(node: SyntaxTreeNode) -> str:
    return _inline(node.children)


def _inline(nodes: Iterable[SyntaxTreeNode], in_link: bool = False) -> str:
    return "".join(_span(node, in_link) for node in nodes).strip()


def _span(node: SyntaxTreeNode, in_link: bool) -> str:
    """Write a piece of a line; return an empty string for kinds that are not shown."""
    write = _SPANS.get(node.type)
    return write(node, in_link) if write else ""


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)


def _emphasis(node: SyntaxTreeNode, in_link: bool) -> str:
    text = _inline(node.children, in_link)
    return f"{node.markup}{text}{node.markup}" if text else ""


def _picture(node: SyntaxTreeNode, in_link: bool) -> str:
    text = _escaped(_plain(node)) or "Picture"
    return text if in_link else _link(text, str(node.attrs.get("src", "")))


def _plain(node: SyntaxTreeNode) -> str:
    """Return the text in a node, such as an image's alternative text."""
    return "".join(part.content for part in node.walk() if part.type in ("text", "code_inline"))


def _code_span(node: SyntaxTreeNode, _: bool) -> str:
    longest = _longest_ticks(node.content)
    ticks = "`" * (longest + 1)
    return f"{ticks} {node.content} {ticks}" if longest else f"`{node.content}`"


def _link(text: str, address: str) -> str:
    """Write a link to a web page; return only its text if it leads anywhere else."""
    try:
        parts = urlsplit(address)
        web = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        web = False
    if not web or not text:
        return text
    return f"[{text}](<{address}>)" if re.search(r"[()]", address) else f"[{text}]({address})"


_BLOCKS: Final[dict[str, Callable[[SyntaxTreeNode], str]]] = {
    "heading": _heading,
    "paragraph": _paragraph,
    "fence": _code,
    "code_block": _code,
    "hr": lambda _: "---",
    "blockquote": _quote,
    "bullet_list": _bullets,
    "ordered_list": _numbered,
    "table": _table,
}
_SPANS: Final[dict[str, Callable[[SyntaxTreeNode, bool], str]]] = {
    "inline": lambda node, in_link: _inline(node.children, in_link),
    "text": lambda node, _: _escaped(node.content),
    "code_inline": _code_span,
    "softbreak": lambda *_: " ",
    "hardbreak": lambda *_: "  \n",
    "em": _emphasis,
    "strong": _emphasis,
    "s": _emphasis,
    "link": lambda node, _: _link(
        _inline(node.children, in_link=True), str(node.attrs.get("href", ""))
    ),
    "image": _picture,
}
"""The inline elements that are shown; HTML is in neither table."""
