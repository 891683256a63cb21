"""Trains the drafter: the small network that guesses the target's next tokens (MTP).

For each round of drafting, with the last chosen token at position t: the drafter is given that
token's embedding in the target and the target's last hidden state at t-1, sees the target's keys
and values of positions before t, and guesses token t+1. For the next guess the guessed token and
its own projected state take their places; the position stays t. (Gemma 4 assistant, as in
transformers' SinglePositionMultiTokenCandidateGenerator and llama.cpp's common/speculative.cpp.)
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import torch
from torch.nn import functional
from transformers import Gemma4AssistantConfig, Gemma4AssistantForCausalLM, Gemma4ForCausalLM

from guide.batches import Batch, additive, pack
from guide.dialogues import DialogueSource
from guide.encoding import Encoder, Noise
from guide.precision import MasterWeights, fused_norms
from guide.schedule import Budget, learning_rate
from guide.target import Report, encoded, encoded_long, initialise

PEAK_RATE = 2e-3
DEPTH = 3
"""Guesses in a row that are trained."""

SHORT_ROWS, SHORT_LENGTH = 16, 256
LONG_ROWS, LONG_LENGTH = 2, 1024
LONG_EVERY = 8
NOISE = Noise(split=0.1)


def train(
    model: Gemma4AssistantForCausalLM,
    target: Gemma4ForCausalLM,
    source: DialogueSource,
    encoder: Encoder,
    budget: Budget,
    report: Report,
) -> Gemma4AssistantForCausalLM:
    """Distil `target` into the drafter `model` until `budget` is used up."""
    model.train()
    weights = MasterWeights(model)
    short = encoded(source, encoder, NOISE)
    long = encoded_long(source, encoder)
    with fused_norms():
        for step in itertools.count():
            used = budget.used
            if used >= 1:
                break
            if step % LONG_EVERY == LONG_EVERY - 1:
                batch = pack(long, LONG_ROWS, LONG_LENGTH)
            else:
                batch = pack(short, SHORT_ROWS, SHORT_LENGTH)
            losses = distillation_losses(model, target, batch.to(model.device))
            torch.stack(losses).mean().backward()
            weights.step(learning_rate(used, PEAK_RATE))
            if step % 200 == 0:
                each = " ".join(f"{loss.item():.3f}" for loss in losses)
                report(f"drafter {used:4.0%}  step {step:5}  loss by guess {each}")
    return model.eval()


def new_model(config: Gemma4AssistantConfig) -> Gemma4AssistantForCausalLM:
    """Return a drafter with random weights."""
    config.text_config._attn_implementation = "eager"
    model = Gemma4AssistantForCausalLM(config)
    initialise(model)
    return model


def trained_model(folder: Path) -> Gemma4AssistantForCausalLM:
    """Return the drafter saved in `folder`, to be trained further."""
    model = Gemma4AssistantForCausalLM.from_pretrained(
        folder, dtype=torch.float32, attn_implementation="eager"
    )
    # Else the saved configuration says of its inner part that it has 32 bits.
    model.config.text_config.dtype = None
    return model


def distillation_losses(
    model: Gemma4AssistantForCausalLM, target: Gemma4ForCausalLM, batch: Batch
) -> list[torch.Tensor]:
    """Return the cross-entropy against the target's distribution, for each of DEPTH guesses."""
    losses = []
    for guess, (drafted, wished) in enumerate(guesses(model, target, batch, DEPTH)):
        asked = asked_rounds(batch, guess)
        wish = wished[asked].float().softmax(-1)
        losses.append(functional.cross_entropy(drafted[asked].float(), wish))
    return losses


def guesses(
    model: Gemma4AssistantForCausalLM, target: Gemma4ForCausalLM, batch: Batch, depth: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Draft at every position, as if each earlier guess of the round was right.

    Yields for each guess the drafter's logits and the target's for the same token. Row t of guess
    g is for token t + g + 1.
    """
    with torch.no_grad():
        seen = target.model(
            input_ids=batch.ids,
            attention_mask=additive(batch.masks(), target.dtype),
            position_ids=batch.positions,
            use_cache=False,
            return_shared_kv_states=True,
        )
        load_options = target.lm_head(seen.last_hidden_state)
    state = functional.pad(seen.last_hidden_state[:, :-1], (0, 0, 1, 0))
    masks = additive(batch.masks(back=1), model.dtype)
    last = batch.ids.shape[1] - 1
    for guess in range(depth):
        with torch.no_grad():
            token = target.model.embed_tokens(batch.ids.roll(-guess, dims=1))
        inner = model.model(
            inputs_embeds=model.pre_projection(torch.cat([token, state], dim=-1)),
            attention_mask=masks,
            position_ids=batch.positions,
            shared_kv_states=seen.shared_kv_states,
            use_cache=False,
        ).last_hidden_state
        state = model.post_projection(inner)
        yield model.lm_head(inner[:, : last - guess]), load_options[:, guess:last]


def asked_rounds(batch: Batch, guess: int) -> torch.Tensor:
    """Return the rounds whose guess number `guess` is a token of an answer in the conversation."""
    last = batch.ids.shape[1] - 1 - guess
    inside = batch.documents[:, :last] == batch.documents[:, guess + 1 :]
    return batch.learned[:, guess + 1 :] & inside
