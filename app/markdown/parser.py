"""The parser of markdown: CommonMark, tables, tasks, footnotes, formulas and bare links.

Raw HTML stays text, pictures elsewhere become links, and only http, https and mailto addresses
become links: nothing that a model writes can load or run anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from mdit_py_plugins.footnote import footnote_plugin

from app.markdown.blocks import Block, Rule
from app.markdown.cjk import cjk_plugin
from app.markdown.limits import limits_plugin
from app.markdown.local_files import local_path
from app.markdown.maths import COMPLETE, maths_plugin
from app.markdown.walk import Walk


@dataclass(frozen=True)
class Piece:
    """The blocks of a text that may continue.

    Attributes:
        before: All blocks but those of the last top-level block.
        last: The blocks of the last top-level block.
        line: The line at which the last top-level block begins.
    """

    before: tuple[Block, ...]
    last: tuple[Block, ...]
    line: int

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks of the text so far."""
        return self.before + self.last


class Parser:
    """A parser of whole texts and of pieces of a text.

    Args:
        document: Whether the texts are pages of Hearth's own, in which a paragraph continues over
            line ends, and which can link to each other.
    """

    def __init__(self, *, document: bool = False) -> None:
        self._markdown = _Markdown("gfm-like", {"html": False, "breaks": True})
        if self._markdown.linkify is not None:
            # “main.py” is a file and not a web site in Paraguay.
            self._markdown.linkify.set({"fuzzy_link": False, "fuzzy_email": False})
        self._markdown.use(footnote_plugin, inline=False, move_to_end=False)
        self._markdown.use(maths_plugin).use(cjk_plugin).use(limits_plugin)
        if document:
            self._markdown.core.ruler.push("document", _as_document)

    def parse(self, text: str) -> tuple[Block, ...]:
        """Parse a whole text; its footnotes follow under a rule at its end."""
        env = {COMPLETE: True}
        tokens = self._markdown.parse(text, env)
        ranked = list(Walk(text.split("\n"), env).blocks(tokens))
        notes = sorted((note for note in ranked if note[0]), key=lambda note: note[0])
        blocks = tuple(block for rank, block in ranked if not rank)
        rule = (Rule(),) if blocks and notes else ()
        return (*blocks, *rule, *(block for _, block in notes))

    def parse_piece(self, text: str, env: dict[str, Any]) -> Piece:
        """Parse a text that may continue; its footnotes stay where they are written.

        Args:
            env: Definitions of links and footnotes, passed from piece to piece.
        """
        tokens = self._markdown.parse(text, env)
        tops = [index for index, token in enumerate(tokens) if token.level == 0 and token.map]
        last = tops[-1] if tops else 0
        walk = Walk(text.split("\n"), env)
        before = tuple(block for _, block in walk.blocks(tokens[:last]))
        after = tuple(block for _, block in walk.blocks(tokens[last:]))
        return Piece(before, after, (tokens[last].map or [0])[0] if tops else 0)


def _as_document(state: StateCore) -> None:
    for token in state.tokens:
        for child in token.children or ():
            if child.type == "softbreak":
                child.type, child.content = "text", " "
            elif child.type == "link_open":
                child.meta["page"] = True


class _Markdown(MarkdownIt):
    """markdown-it's parser, in which pictures, but not links, can name files on this computer."""

    def validateLink(self, url: str) -> bool:
        return super().validateLink(url) or bool(local_path(url))
