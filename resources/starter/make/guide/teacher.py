"""A classifier over words and letters, which judges new wordings well after little text.

It looks at words, neighbouring words and runs of letters, in no order, so it learns from little.
The target practises on mixed-up questions with its judgement, besides the written ones
(data augmentation for distillation, as in Tang et al. 2019, "Distilling Task-Specific Knowledge
from BERT into Simple Neural Networks", with the roles of the two networks exchanged).
"""

import itertools
import re
import zlib
from collections.abc import Callable, Sequence

import torch
from torch import nn
from torch.nn import functional

FEATURES = 1 << 18
WIDTH = 128
BATCH = 128
RATE = 3e-3
DROPOUT = 0.1

_WORD = re.compile(r"[a-z0-9']+")


class Teacher:
    """A classifier of questions into `names`, once trained."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._table = nn.EmbeddingBag(FEATURES, WIDTH, mode="mean", sparse=True)
        nn.init.normal_(self._table.weight, std=0.1)
        self._head = nn.Linear(WIDTH, len(self._names))

    def train(
        self, asked: Sequence[tuple[str, str]], epochs: int, report: Callable[[str], None]
    ) -> None:
        """Learn from questions and the names they belong to."""
        found = [features(question) for question, _ in asked]
        wanted = torch.tensor([self._names.index(name) for _, name in asked])
        table = torch.optim.SparseAdam(list(self._table.parameters()), lr=RATE)
        head = torch.optim.AdamW(self._head.parameters(), lr=RATE)
        for epoch in range(epochs):
            order = torch.randperm(len(found))
            for rows in order.split(BATCH):
                scores = self._scores([found[row] for row in rows.tolist()], DROPOUT)
                loss = functional.cross_entropy(scores, wanted[rows])
                loss.backward()
                for optimizer in (table, head):
                    optimizer.step()
                    optimizer.zero_grad()
            report(f"teacher epoch {epoch + 1} of {epochs}  loss {loss.item():.3f}")

    def judge(self, questions: Sequence[str]) -> list[tuple[str, float]]:
        """Return for each question the most likely name and its probability (0 to 1)."""
        with torch.no_grad():
            chances = self._scores([features(question) for question in questions], 0.0).softmax(-1)
        best = chances.max(-1)
        names = [self._names[index] for index in best.indices.tolist()]
        return list(zip(names, best.values.tolist(), strict=True))

    def _scores(self, found: Sequence[list[int]], dropout: float) -> torch.Tensor:
        starts = [0, *itertools.accumulate(len(one) for one in found)][:-1]
        flat = torch.tensor(list(itertools.chain.from_iterable(found)))
        mean = self._table(flat, torch.tensor(starts))
        scores: torch.Tensor = self._head(functional.dropout(mean, dropout))
        return scores


def features(question: str) -> list[int]:
    """Return numbers of the words, pairs of words and runs of 3 to 5 letters in `question`."""
    words = _WORD.findall(question.lower())
    text = "^" + " ".join(words) + "$"
    pieces = ["w" + word for word in words]
    pieces += [f"b{a} {b}" for a, b in itertools.pairwise(words)]
    pieces += [f"s{a} {b}" for a, b in zip(words, words[2:], strict=False)]
    pieces += ["c" + text[at : at + n] for n in (3, 4, 5) for at in range(len(text) - n + 1)]
    return [zlib.crc32(piece.encode()) % FEATURES for piece in pieces] or [0]
