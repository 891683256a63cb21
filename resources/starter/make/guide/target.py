"""Trains the target: the model that answers."""

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from transformers import Gemma4ForCausalLM, Gemma4TextConfig

from guide.batches import Batch, additive, pack
from guide.dialogues import DialogueSource
from guide.encoding import Encoded, Encoder, Noise
from guide.precision import MasterWeights, fused_norms
from guide.schedule import Budget, learning_rate

PEAK_RATE = 2e-3
FURTHER_RATE = 1.2e-3
"""Highest learning rate from random weights, and for training a finished model further."""
DROPOUT = 0.1

SHORT_ROWS, SHORT_LENGTH = 32, 128
LONG_ROWS, LONG_LENGTH = 3, 1280
LONG_FROM, LONG_SHARE = 0.4, 0.12
"""Long chats come in after this share of the time, as this share of the batches."""

SHORT_NOISE = Noise(split=0.3, replace=0.06, shorten=0.75)
LONG_NOISE = Noise(split=0.2, replace=0.02)

Report = Callable[[str], None]


def train(
    model: Gemma4ForCausalLM,
    source: DialogueSource,
    encoder: Encoder,
    budget: Budget,
    peak: float,
    compiled: bool,
    report: Report,
) -> Gemma4ForCausalLM:
    """Train `model` until `budget` is used up, with learning rates up to `peak`.

    `compiled` turns the short batches' pass into machine code first: a quarter faster after a
    minute, but it needs a C++ compiler.
    """
    model.train()
    for layer in model.model.layers:
        layer.mlp.register_forward_hook(_dropout)
    weights = MasterWeights(model)
    short = encoded(source, encoder, SHORT_NOISE)
    long = encoded_long(source, encoder)
    rng = Random(0)
    quick = torch.compile(model.model, dynamic=False) if compiled else model.model
    tokens, average = 0, 0.0
    with fused_norms():
        for step in itertools.count():
            used = budget.used
            if used >= 1:
                break
            source.prefer(1 - used)
            if used > LONG_FROM and rng.random() < LONG_SHARE:
                batch, inner = pack(long, LONG_ROWS, LONG_LENGTH), model.model
            else:
                batch, inner = pack(short, SHORT_ROWS, SHORT_LENGTH), quick
            loss = next_token_loss(model, batch.to(model.device), inner)
            loss.backward()
            weights.step(learning_rate(used, peak))
            tokens += SHORT_ROWS * SHORT_LENGTH
            average += (loss.item() - average) / min(step + 1, 50)
            if step % 200 == 0:
                seen = f"{tokens / 1e6:5.1f} M tokens"
                report(f"target {used:4.0%}  step {step:5}  {seen}  loss {average:.4f}")
    source.prefer(0)
    return model.eval()


def new_model(config: Gemma4TextConfig) -> Gemma4ForCausalLM:
    """Return a model with random weights, scaled for its small size."""
    config._attn_implementation = "eager"
    model = Gemma4ForCausalLM(config)
    initialise(model)
    return model


def trained_model(folder: Path) -> Gemma4ForCausalLM:
    """Return the model saved in `folder`, to be trained further."""
    return Gemma4ForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )


def initialise(model: nn.Module) -> None:
    """Set random weights for activations of unit variance and attention that starts soft.

    Gemma 4 does not divide attention scores by the root of the head size; its learned norms of
    queries and keys have that task, so they start at the fourth root each.
    """
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if name.endswith(("q_norm.weight", "k_norm.weight")):
                parameter.fill_(parameter.shape[0] ** -0.25)
            elif "post_" in name and name.endswith("norm.weight"):
                parameter.fill_(0.4)
            elif parameter.ndim == 2:
                nn.init.normal_(parameter, std=parameter.shape[1] ** -0.5)


def next_token_loss(
    model: Gemma4ForCausalLM, batch: Batch, inner: Callable[..., Any]
) -> torch.Tensor:
    """Return the mean cross-entropy of the learned tokens; `inner` is the model but its head."""
    wanted = batch.learned[:, 1:]
    hidden = inner(
        input_ids=batch.ids,
        attention_mask=additive(batch.masks(), model.dtype),
        position_ids=batch.positions,
        use_cache=False,
    ).last_hidden_state
    logits = model.lm_head(hidden[:, :-1][wanted])
    return functional.cross_entropy(logits.float(), batch.ids[:, 1:][wanted])


def encoded(source: DialogueSource, encoder: Encoder, noise: Noise) -> Iterator[Encoded]:
    """Yield short conversations, ready to pack."""
    return (encoder.encode(dialogue, noise) for dialogue in source)


def encoded_long(source: DialogueSource, encoder: Encoder) -> Iterator[Encoded]:
    """Yield conversations of more tokens than the longest row, with whole answers."""
    while True:
        yield encoder.encode(source.dialogue(48), LONG_NOISE)


def _dropout(module: nn.Module, _: object, output: torch.Tensor) -> torch.Tensor:
    return functional.dropout(output, DROPOUT, module.training)
