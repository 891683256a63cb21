"""Turns conversations into token numbers, in the layout of the chat template."""

from dataclasses import dataclass
from random import Random

from tokenizers import Tokenizer
from transformers import GemmaTokenizer

from guide.dialogues import Dialogue
from guide.tokenizer import BOS, EOS, PAD, TURN_END

MERGE_DROPOUT = 0.1
"""Share of merges left out in a noisy question, so that words are seen in several pieces."""


@dataclass(frozen=True)
class Encoded:
    """Token numbers of a conversation; `learned` marks those the model has to predict."""

    ids: tuple[int, ...]
    learned: tuple[bool, ...]


@dataclass(frozen=True)
class Noise:
    """The disturbance of training text; all zero for measuring.

    `split`: chance that a question is split into unusual pieces; `replace`: chance that a
    question's token becomes a random one; `shorten`: chance that an answer breaks off after a
    few tokens (its beginning decides which answer it is, so the rest is repetition).
    """

    split: float = 0.0
    replace: float = 0.0
    shorten: float = 0.0


class Encoder:
    """Encodes with one tokenizer; `rng` decides on the noise."""

    def __init__(self, tokenizer: GemmaTokenizer, rng: Random) -> None:
        self._plain: Tokenizer = tokenizer.backend_tokenizer
        self._noisy = Tokenizer.from_str(self._plain.to_str())
        self._noisy.model.dropout = MERGE_DROPOUT
        self._rng = rng
        self._first_word = len(tokenizer.all_special_tokens)
        self._size = len(tokenizer)
        self._cache: dict[str, list[int]] = {}
        self.bos = self._number(BOS)
        self.pad = self._number(PAD)
        self.stops = [self._number(EOS), self._number(TURN_END)]

    def encode(self, dialogue: Dialogue, noise: Noise) -> Encoded:
        """Encode a whole conversation, its answers marked as learned."""
        ids, learned = [self.bos], [False]

        def add(piece: list[int], learn: bool) -> None:
            ids.extend(piece)
            learned.extend([learn] * len(piece))

        if dialogue.system:
            add(self._fixed(f"<|turn>system\n{dialogue.system}<turn|>\n"), False)
        for exchange in dialogue.exchanges:
            add(self._fixed("<|turn>user\n"), False)
            add(self._question(exchange.question, noise), False)
            add(self._fixed("<turn|>\n<|turn>model\n"), False)
            answer = self._fixed(exchange.answer + "<turn|>")
            if self._rng.random() < noise.shorten:
                answer = answer[: self._rng.randint(3, 10)]
            add(answer, True)
            if answer[-1] != self.stops[1]:
                add([self.stops[1]], False)
            add(self._fixed("\n"), False)
        return Encoded(tuple(ids), tuple(learned))

    def _number(self, token: str) -> int:
        number = self._plain.token_to_id(token)
        if number is None:
            raise ValueError(f"The vocabulary has no {token}")
        return int(number)

    def _fixed(self, text: str) -> list[int]:
        if text not in self._cache:
            self._cache[text] = self._plain.encode(text, add_special_tokens=False).ids
        return self._cache[text]

    def _question(self, text: str, noise: Noise) -> list[int]:
        tokenizer = self._noisy if self._rng.random() < noise.split else self._plain
        ids: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        if noise.replace and len(ids) > 3:
            ids = [
                self._rng.randrange(self._first_word, self._size)
                if self._rng.random() < noise.replace
                else token
                for token in ids
            ]
        return ids
