"""The vocabulary of a model: text to tokens, tokens to bytes, and control tokens."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Final

from engines.errors import Unsupported
from engines.llamacpp.fewest import FewestTokens
from engines.llamacpp.native import Native
from engines.sentences import N_
from engines.text import SEAM

_UNKNOWN, _CONTROL, _USER_DEFINED, _BYTE, _STRIPS_LEFT = 1, 8, 16, 32, 128
"""Bits of `enum llama_token_attr` in llama.h."""

_SENTENCEPIECE, _BPE = 1, 2
"""Values of `enum llama_vocab_type` in llama.h."""

# Some BPE models split text with std::regex, which recurses once for each character of a match:
# some thousands end the process, and fewer in a thread with a small stack. A match is at most one
# run of blanks next to one of other characters.
_LONG: Final = re.compile(r"[^ \n]{400}(?=[^ \n])|\s{400}(?=\s)")
_BYTES: Final = frozenset(f"<0x{byte:02X}>" for byte in range(256))

_SEARCHED_CHARS: Final = 10_000
"""Number of characters of a prompt in which all control tokens of its template appear."""

USUAL_PIECE: Final = 256
"""Number of bytes that hardly any token exceeds."""
_BLANK: Final = "\N{LOWER ONE EIGHTH BLOCK}"
"""SentencePiece's character for a blank. A user who writes it gets the tokens of blanks."""


class Vocabulary:
    """The vocabulary of a loaded model; valid as long as the model is.

    Attributes:
        size: Number of tokens.
        bos: The token that begins a text; negative if there is none.
        adds_bos: Whether the model expects that token at the beginning.
        control_texts: The texts of control tokens.
        user_defined_texts: The texts of tokens that were added as ordinary text.
    """

    def __init__(self, native: Native, model: Any) -> None:
        self._api = native.api
        self._pointer = self._api.llama_model_get_vocab(model)
        self.size = int(self._api.llama_vocab_n_tokens(self._pointer))
        self._pieces: dict[int, bytes] = {}
        self._texts: dict[int, str] = {}
        self._ends: dict[int, bool] = {}
        self.bos = int(self._api.llama_vocab_bos(self._pointer))
        self.adds_bos = self.bos >= 0 and bool(self._api.llama_vocab_get_add_bos(self._pointer))
        self._type = int(self._api.llama_vocab_type(self._pointer))
        self._byte_texts: set[str] = set()
        self.control_texts, self.user_defined_texts = self._special_texts()
        self._special = self.control_texts | self.user_defined_texts
        self._special_lengths = {len(text) for text in self._special}

    def _special_texts(self) -> tuple[frozenset[str], frozenset[str]]:
        """Return the texts of control tokens, and of tokens that were added as ordinary text."""
        attr, pointer = self._api.llama_vocab_get_attr, self._pointer
        control, user_defined = set(), set()
        for token in range(self.size):
            bits = attr(pointer, token)
            if bits & (_CONTROL | _UNKNOWN):
                control.add(self.text(token))
            elif bits & _USER_DEFINED:
                user_defined.add(self.text(token))
            elif bits & _BYTE:
                self._byte_texts.add(self.text(token))
        return frozenset(control), frozenset(user_defined)

    @property
    def reads_any_text(self) -> bool:
        """True if every character can be tokenised; llama.cpp aborts if one cannot.

        A SentencePiece vocabulary spells unknown characters in bytes, and needs a token for each
        byte.
        """
        return self._type != _SENTENCEPIECE or self._byte_texts >= _BYTES

    def text(self, token: int) -> str:
        """Return the token's text as the vocabulary spells it; empty if there is no such token."""
        if (known := self._texts.get(token)) is not None:
            return known
        if not 0 <= token < self.size:
            return ""
        spelling: bytes = self._api.llama_vocab_get_text(self._pointer, token)
        text = self._texts[token] = spelling.decode(errors="replace")
        return text

    @cached_property
    def longest(self) -> int:
        """The length of the longest token as the vocabulary spells it, in bytes."""
        text = self._api.llama_vocab_get_text
        return max((len(text(self._pointer, token)) for token in range(self.size)), default=0)

    @property
    def eos_text(self) -> str:
        """The text of the token that ends a text."""
        return self.text(int(self._api.llama_vocab_eos(self._pointer)))

    def token_of(self, special: str) -> int | None:
        """Return the special token with this text; None if there is none."""
        tokens = self.tokenise(special) if special in self._special else []
        found = [token for token in tokens if self.text(token) == special]
        return found[0] if found else None

    def ends_generation(self, token: int) -> bool:
        """Return whether the token ends a turn or the text (llama_vocab_is_eog)."""
        if (known := self._ends.get(token)) is not None:
            return known
        ends = self._ends[token] = self._is_end(token)
        return ends

    @cached_property
    def ends(self) -> list[int]:
        """The tokens that end a turn or the text."""
        return [token for token in range(self.size) if self._is_end(token)]

    def _is_end(self, token: int) -> bool:
        return bool(self._api.llama_vocab_is_eog(self._pointer, token))

    def tokenise(self, text: str) -> list[int]:
        """Tokenise `text`; text of a special token becomes that token, and none spans a SEAM."""
        if self._type == _BPE:
            text = _LONG.sub(self._with_seam, text)
        return [token for part in text.split(SEAM) for token in self._tokenise(part)]

    def turn_marker(self, prompt: str) -> str:
        """Return the most frequent control token of a prompt, or "" if it has none.

        Before this token, a text can be cut for tokenising: no longer token contains it, and it
        swallows no blanks before it.
        """
        found = [text for text in self.control_texts if text and text in prompt[:_SEARCHED_CHARS]]
        whole = [
            text for text in found if not any(text in other for other in self._special - {text})
        ]
        for text in sorted(whole, key=prompt.count, reverse=True):
            token = self.token_of(text)
            if token is not None and not self._strips_left(token):
                return text
        return ""

    def _strips_left(self, token: int) -> bool:
        return bool(self._api.llama_vocab_get_attr(self._pointer, token) & _STRIPS_LEFT)

    def fewest(self, text: str) -> int:
        """Return a number of tokens that `text` has at least, much faster than by tokenising.

        0 if there is no bound, as for a vocabulary that leaves out parts of a text.
        """
        data = text.replace(SEAM, "").replace(_BLANK, " ").encode(errors="replace")
        return self._fewest.of(data) if self._type in (_SENTENCEPIECE, _BPE) else 0

    @cached_property
    def _fewest(self) -> FewestTokens:
        pieces = (
            self._whole_piece(token) or self.text(token).encode() for token in range(self.size)
        )
        return FewestTokens(piece.replace(_BLANK.encode(), b" ") for piece in pieces)

    def whole_text(self, text: str) -> list[int]:
        """Tokenise `text`, with the BOS token first if the model expects it."""
        return self.begun(self.tokenise(text))

    def begun(self, tokens: list[int]) -> list[int]:
        """Return the tokens of a text, with the BOS token first if the model expects it."""
        begins = self.adds_bos and tokens[:1] != [self.bos]
        return [self.bos, *tokens] if begins else tokens

    def with_gap(self, before: str, behind: str) -> list[int] | None:
        """Return the tokens that ask for the text between two texts, in llama-server's order.

        Returns:
            The tokens, or None if the model has no tokens that mark the gap.
        """
        api, pointer = self._api, self._pointer
        first = int(api.llama_vocab_fim_pre(pointer))
        second = int(api.llama_vocab_fim_suf(pointer))
        gap = int(api.llama_vocab_fim_mid(pointer))
        if min(first, second, gap) < 0:
            return None
        prefix, suffix = self.plain_tokens(before), self.plain_tokens(behind)
        return self.begun([first, *prefix, second, *suffix, gap])

    def wrapping(self) -> tuple[list[int], list[int]]:
        """Return the tokens that the model expects before and after a whole text."""
        api, pointer = self._api, self._pointer
        wrapper = self._tokenise("", wrapped=True)
        begins = bool(wrapper) and self.bos >= 0 and wrapper[0] == self.bos
        ends = wrapper[1:] if begins else wrapper
        if not wrapper and api.llama_vocab_get_add_eos(pointer):
            ends = [int(api.llama_vocab_eos(pointer))]
        return wrapper[:1] if begins else [], ends

    def joined_pair(self, first: list[int], second: list[int]) -> list[int]:
        """Join the tokens of two texts for a model that compares them."""
        api, pointer = self._api, self._pointer
        separator = int(api.llama_vocab_sep(pointer))
        eos = int(api.llama_vocab_eos(pointer))
        end = [eos if eos >= 0 else separator] if api.llama_vocab_get_add_eos(pointer) else []
        between = [separator] if api.llama_vocab_get_add_sep(pointer) else []
        begin = [self.bos] if self.adds_bos else []
        return [*begin, *first, *end, *between, *second, *end]

    def require_tokens(self, tokens: Sequence[int]) -> list[int]:
        """Return the tokens. Raises Unsupported if one of them is not in this vocabulary."""
        for token in tokens:
            if not 0 <= token < self.size:
                raise no_token(token, self.size)
        return list(tokens)

    def plain_tokens(self, text: str) -> list[int]:
        """Tokenise `text` as a person wrote it: texts of special tokens are just letters."""
        if self._type == _BPE:
            text = _LONG.sub(self._with_seam, text)
        return [token for part in text.split(SEAM) for token in self._tokenise(part, special=False)]

    def _with_seam(self, run: re.Match[str]) -> str:
        """Return the run with a SEAM at its end, or before a special token that spans its end."""
        text, begin, end = run.string, run.start(), run.end()
        at, start = end, end - 1
        while start > max(begin, at - max(self._special_lengths, default=0)):
            for length in self._special_lengths:
                if start + length > at and text[start : start + length] in self._special:
                    at = start
                    break
            start -= 1
        return f"{text[begin:at]}{SEAM}{text[at:end]}"

    def _tokenise(self, text: str, *, special: bool = True, wrapped: bool = False) -> list[int]:
        data = text.encode(errors="replace")
        # A token stands for at least one byte, except that some vocabularies add a space in front.
        room = len(data) + 8
        tokens = (ctypes.c_int32 * room)()
        count = self._api.llama_tokenize(
            self._pointer, data, len(data), tokens, room, wrapped, special
        )
        if count < 0:
            raise ValueError(f"llama_tokenize needs room for {-count} tokens, and got {room}")
        return tokens[:count]

    def piece(self, token: int) -> bytes:
        """Return the bytes a token adds, perhaps half a character; none for a control token.

        Raises:
            ValueError: The number is not a token, for which llama.cpp would end the process.
        """
        if (known := self._pieces.get(token)) is not None:
            return known
        if not 0 <= token < self.size:
            raise ValueError(f"{token} is no token of this vocabulary")
        piece = self._pieces[token] = self._whole_piece(token)
        return piece

    def display_bytes(self, token: int) -> bytes:
        """Return the bytes that show a token: for a control token, its text."""
        return self.piece(token) or self.text(token).encode()

    def _whole_piece(self, token: int) -> bytes:
        piece, length = self._read_piece(token, USUAL_PIECE)
        return piece if length >= 0 else self._read_piece(token, -length)[0]

    def _read_piece(self, token: int, room: int) -> tuple[bytes, int]:
        """Return a token's bytes and their number, which is negative if there was no room."""
        buffer = ctypes.create_string_buffer(room)
        length = self._api.llama_token_to_piece(self._pointer, token, buffer, room, 0, False)
        return buffer.raw[: max(0, length)], int(length)


def no_token(token: int, size: int) -> Unsupported:
    """Return the error for a number that is not a token of a vocabulary of `size` tokens."""
    return Unsupported(
        N_("{token} is not a token.", token=token),
        N_("This model’s vocabulary has the tokens 0 to {size}.", size=size - 1),
        N_("Send tokens of this model."),
    )
