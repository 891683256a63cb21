"""Texts that follow grammars, with llguidance over single bytes."""

from __future__ import annotations

import random

from llguidance import LLMatcher, LLTokenizer

from engines.errors import GrammarInvalid
from engines.llamacpp.gbnf import write
from engines.llamacpp.lark import Lark
from engines.llamacpp.limits import parser_limits

_BYTES = LLTokenizer("byte")


def lark_of(gbnf: str) -> str:
    """Write a GBNF grammar for llguidance.

    Raises:
        GrammarInvalid: It cannot be read.
    """
    lark = Lark()
    return lark.text(write(gbnf, lark))


def opened(grammar: str) -> LLMatcher:
    """Return the state of a grammar at its beginning.

    Raises:
        GrammarInvalid: It cannot be read.
    """
    matcher = LLMatcher(_BYTES, grammar, log_level=0, limits=parser_limits())
    if matcher.is_error():
        raise GrammarInvalid("It cannot be read.", matcher.get_error(), "")
    return matcher


def matches(grammar: str, text: str) -> bool:
    """Return whether the whole text follows the grammar."""
    matcher = opened(grammar)
    tokens = list(text.encode())
    return matcher.try_consume_tokens(tokens) == len(tokens) and matcher.is_accepting()


_SAMPLES = [it.encode() for it in "aZ09 _-.:,/äé日😀\t\ufffd\U0010ffff"]


class Drawer:
    """A source of random texts that follow a grammar; while short, each next byte is as likely.

    Args:
        grammar: The grammar.
        hints: Characters with which a long text is likely to end.
    """

    def __init__(self, grammar: str, hints: str = "") -> None:
        self._begin = opened(grammar)
        self._hints = hints.encode()

    def draw(self, chance: random.Random, *, length: int = 60) -> str:
        """Draw a text; from `length` bytes on, it prefers bytes that close things."""
        matcher, written = self._begin.deep_copy(), bytearray()
        while True:
            mask = matcher.compute_bitmask()
            assert not matcher.is_error(), matcher.get_error()
            allowed = [it for it in range(256) if mask[it // 8] >> it % 8 & 1]
            ends = matcher.is_accepting()
            if not allowed or (ends and (len(written) >= length or chance.random() < 0.3)):
                assert ends
                return written.decode()
            piece = self._piece(allowed, chance, hurried=len(written) >= length)
            if matcher.try_consume_tokens(list(piece)) == len(piece):
                written += piece
            else:
                matcher = self._begin.deep_copy()
                assert matcher.try_consume_tokens(list(written)) == len(written)

    def _piece(self, allowed: list[int], chance: random.Random, *, hurried: bool) -> bytes:
        closing = [it for it in allowed if it in b'"]}' or it in self._hints]
        if hurried and closing and chance.random() < 0.5:
            return bytes([closing[0] if chance.random() < 0.5 else chance.choice(closing)])
        plain = [it for it in allowed if it < 128]
        whole = [it for it in _SAMPLES if it[0] in allowed and len(it) > 1]
        if whole and (not plain or chance.random() < 0.1):
            return chance.choice(whole)
        return bytes([chance.choice(plain or allowed)])
