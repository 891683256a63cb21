"""The markers that models write around their reasoning: one entry for each format."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from engines.text import SEAM


@dataclass(frozen=True)
class ReasoningFormat:
    """The markers by which an answer tells reasoning from answer.

    opens, closes: what stands before and behind the reasoning, the usual spelling first.
    lead, gap: what a model writes behind them before the text begins.
    wraps: what stands around the answer; a model may leave it out.
    tokens: the single tokens in these markers. prose: markers are words that anyone may write, so
    only a template says that they mean something.
    channels: messages in channels, as the harmony format of gpt-oss has them.
    marked: of `tokens`, those that the vocabulary has; each comes with a SEAM before it, so that
    the same letters in other tokens are text.
    """

    opens: tuple[str, ...]
    closes: tuple[str, ...]
    lead: str = ""
    gap: str = ""
    wraps: tuple[str, str] | None = None
    tokens: tuple[str, ...] = ()
    prose: bool = False
    channels: bool = False
    marked: frozenset[str] = frozenset()

    def opened(self, text: str) -> bool:
        """Whether a prompt ends behind an opening marker."""
        return text.rstrip().endswith(self.opens)

    @property
    def begin(self) -> str:
        """The text that begins the reasoning where a model is not left to do it."""
        return self.opens[0] + self.lead

    @property
    def end(self) -> str:
        """The text that ends the reasoning and begins the answer."""
        return self.closes[0] + self.gap + (self.wraps[0] if self.wraps else "")

    def with_tokens(self, vocabulary: Iterable[str]) -> ReasoningFormat:
        """Return the format with a SEAM before each marker that is a token of the vocabulary."""
        marked = frozenset(self.tokens).intersection(vocabulary)
        return replace(
            self,
            opens=tuple(_mark(text, marked) for text in self.opens),
            closes=tuple(_mark(text, marked) for text in self.closes),
            wraps=(_mark(self.wraps[0], marked), _mark(self.wraps[1], marked))
            if self.wraps
            else None,
            marked=marked,
        )

    def known_by(self, source: str) -> bool:
        """Tell whether a template mentions these markers."""
        needed = [*self.closes[:1], *(self.wraps or ())]
        if self.channels:
            needed = ["<|channel|>", "<|message|>"]
        return all(text in source for text in needed)


def mark(text: str, marked: frozenset[str]) -> str:
    """Return a marker, with a SEAM before it where it is a token of the vocabulary."""
    return SEAM + text if text in marked else text


def _mark(text: str, marked: frozenset[str]) -> str:
    for token in marked:
        text = text.replace(token, SEAM + token)
    return text


HARMONY: Final = ReasoningFormat(
    ("<|channel|>analysis<|message|>",),
    ("<|end|><|start|>assistant<|channel|>final<|message|>",),
    tokens=("<|start|>", "<|channel|>", "<|message|>", "<|constrain|>", "<|end|>"),
    channels=True,
)
GEMMA: Final = ReasoningFormat(
    ("<|channel>thought",), ("<channel|>",), lead="\n", tokens=("<|channel>", "<channel|>")
)
MISTRAL: Final = ReasoningFormat(("[THINK]",), ("[/THINK]",), tokens=("[THINK]", "[/THINK]"))
GRANITE: Final = ReasoningFormat(
    ("<think>",),
    ("</think>",),
    wraps=("<response>", "</response>"),
    tokens=("<think>", "</think>", "<response>", "</response>"),
)
GRANITE_WORDS: Final = ReasoningFormat(
    ("Here is my thought process:", "Here's my thought process:"),
    ("Here is my response:", "Here's my response:"),
    lead="\n",
    gap="\n",
    prose=True,
)
THINK: Final = ReasoningFormat(
    ("<think>",), ("</think>",), lead="\n", gap="\n\n", tokens=("<think>", "</think>")
)

FORMATS: Final = (HARMONY, GEMMA, MISTRAL, GRANITE, GRANITE_WORDS, THINK)
"""gpt-oss; Gemma 4; Magistral and Ministral; Granite 3.3, and 3.2; DeepSeek, GLM, Qwen, SmolLM and
most others. Sources: the chat templates and model cards that their makers publish."""

ANY_FORMAT: Final = ReasoningFormat(
    ("<think>", "[THINK]", "<|channel>thought"), ("</think>", "[/THINK]", "<channel|>")
)
"""The format for a server that leaves the reasoning in the text: its model's is not known."""


def format_of(source: str, vocabulary: Iterable[str]) -> tuple[ReasoningFormat | None, bool]:
    """Find the format that a template mentions, or else one whose markers are tokens.

    The second value says whether it is the template that speaks of it.
    """
    said = next((it for it in FORMATS if it.known_by(source)), None)
    if said is not None:
        return said, True
    tokens = frozenset(vocabulary)
    has = (it for it in FORMATS if not it.prose and not it.wraps and tokens.issuperset(it.tokens))
    return next(has, None), False
