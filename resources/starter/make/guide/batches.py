"""Packs conversations into rows of equal length, each conversation blind to its neighbours."""

from collections.abc import Iterator
from dataclasses import dataclass, fields

import torch

from guide.encoding import Encoded
from guide.shapes import WINDOW


@dataclass(frozen=True)
class Batch:
    """Rows of tokens; every field is [rows, length].

    Masks are boolean [rows, 1, length, length], True where a token may look.
    """

    ids: torch.Tensor
    positions: torch.Tensor
    learned: torch.Tensor
    documents: torch.Tensor

    def to(self, device: torch.device) -> "Batch":
        """Return the same rows on `device`."""
        return Batch(*(getattr(self, field.name).to(device) for field in fields(self)))

    def masks(self, back: int = 0) -> dict[str, torch.Tensor]:
        """Return masks by which each token sees its own conversation up to `back` tokens before it.

        A token that would see nothing sees itself, so that no row of a mask is empty.
        """
        length = self.ids.shape[1]
        index = torch.arange(length, device=self.ids.device)
        distance = index[:, None] - index[None, :]
        same = self.documents[:, :, None] == self.documents[:, None, :]
        seen = same & (distance >= back)
        first = (self.positions < back)[:, :, None] & (distance == 0)
        return {
            "full_attention": (seen | first)[:, None],
            "sliding_attention": ((seen & (distance < WINDOW)) | first)[:, None],
        }


def pack(conversations: Iterator[Encoded], rows: int, length: int) -> Batch:
    """Fill `rows` rows of `length` tokens; the last conversation of a row is cut off at its end."""
    filled: list[list[tuple[int, int, bool, int]]] = []
    for _ in range(rows):
        row: list[tuple[int, int, bool, int]] = []
        document = 0
        while len(row) < length:
            one = next(conversations)
            row += [
                (token, position, learn, document)
                for position, (token, learn) in enumerate(zip(one.ids, one.learned, strict=True))
            ]
            document += 1
        filled.append(row[:length])
    numbers = torch.tensor(filled)
    return Batch(
        ids=numbers[..., 0],
        positions=numbers[..., 1],
        learned=numbers[..., 2].bool(),
        documents=numbers[..., 3],
    )


def additive(masks: dict[str, torch.Tensor], dtype: torch.dtype) -> dict[str, torch.Tensor]:
    """Return the masks as numbers to add to attention scores: 0, or the lowest number."""
    lowest = torch.finfo(dtype).min
    return {
        kind: torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, lowest)
        for kind, mask in masks.items()
    }
