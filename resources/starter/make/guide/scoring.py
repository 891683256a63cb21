"""Scores the target on questions, in PyTorch."""

from collections.abc import Sequence

import torch
from transformers import Gemma4ForCausalLM

from guide.batches import Batch, additive
from guide.dialogues import Dialogue, Exchange
from guide.encoding import Encoded, Encoder, Noise

ROWS = 64


def exact(
    model: Gemma4ForCausalLM, encoder: Encoder, asked: Sequence[Exchange], system: str = ""
) -> list[bool]:
    """Return for each exchange whether the greedy answer is the given one to the last token.

    Greedy decoding yields exactly the given answer if, fed with it, the most likely token is the
    right one at every position; so one pass over many questions is enough.
    """
    results: list[bool] = []
    model.eval()
    for start in range(0, len(asked), ROWS):
        rows = [
            encoder.encode(Dialogue(system, (exchange,)), Noise())
            for exchange in asked[start : start + ROWS]
        ]
        batch = padded(rows, encoder.pad)
        with torch.no_grad():
            logits = model(
                input_ids=batch.ids,
                attention_mask=additive(batch.masks(), model.dtype),
                position_ids=batch.positions,
                use_cache=False,
            ).logits
        right = logits[:, :-1].argmax(-1) == batch.ids[:, 1:]
        results += (right | ~batch.learned[:, 1:]).all(1).tolist()
    return results


def padded(rows: Sequence[Encoded], pad: int) -> Batch:
    """Return conversations as rows of one batch, filled up with `pad`."""
    length = max(len(row.ids) for row in rows)
    fill = [length - len(row.ids) for row in rows]
    return Batch(
        ids=torch.tensor([[*row.ids, *[pad] * n] for row, n in zip(rows, fill, strict=True)]),
        positions=torch.arange(length).expand(len(rows), length),
        learned=torch.tensor(
            [[*row.learned, *[False] * n] for row, n in zip(rows, fill, strict=True)]
        ),
        documents=torch.tensor(
            [[0] * len(row.ids) + [1] * n for row, n in zip(rows, fill, strict=True)]
        ),
    )
