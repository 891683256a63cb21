"""A made model that thinks: it writes the same reasoning and the same answer to any prompt.

Its residual stream holds nothing but the current token, and its output matrix names the one that
follows. Its template and markers are those of Gemma 4, its tokenizer is the starter's.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np

from tests.engines.samples.answers import source
from tests.support.made_blocks import common, vector
from tests.support.made_gguf import Floats, Tensor, Tokens, starter_tokens, write_model

THOUGHTS: Final = (
    "▁tool", "▁yes", "▁Which", "▁age", "▁ten", "▁windows", "▁Every", "▁came", "▁follow", ".",
)  # fmt: skip
ANSWER: Final = ("▁helper", "▁opens", "▁dialogue", "!")
REASONING: Final = " tool yes Which age ten windows Every came follow."
TEXT: Final = " helper opens dialogue!"

_USER_DEFINED: Final = 4
"""LLAMA_TOKEN_TYPE_USER_DEFINED in llama.h."""
_WIDTH: Final = 256
_LOGIT: Final = 24.0


def thinking_tokens(template: str = "gemma4") -> Tokens:
    """Return the starter's tokenizer, which has Gemma 4's tokens, with a template that thinks."""
    tokens = starter_tokens()
    return replace(tokens, values={**tokens.values, "tokenizer.chat_template": source(template)})


def write_thinker(path: Path) -> Path:
    """Write a model that opens its reasoning, closes it, answers and ends its turn."""
    walk = ["\n", "<|channel>", "th", "oug", "ht", *THOUGHTS, "<channel|>", *ANSWER, "<turn|>"]
    return write_walker(path, thinking_tokens(), walk)


CALL: Final = ("<tool_call>", '{"name":', '▁"clock",', '▁"arguments":▁{}}', "</tool_call>")
OFFERS_TOOLS: Final = (
    "{{ bos_token }}{% for tool in tools or [] %}{{ tool | tojson }} <tool_call>{% endfor %}"
    "{% for m in messages %}<|turn>{{ m.role }}\n{{ m.content }}<turn|>\n{% endfor %}"
    "{{ '<|turn>model\n' }}"
)


def write_caller(path: Path, *, token: bool = False) -> Path:
    """Write a model that calls the tool “clock” for any prompt.

    Args:
        path: The file to write.
        token: True if the marker of a tool call is a single user-defined token.
    """
    tokens = starter_tokens()
    texts = tokens.values["tokenizer.ggml.tokens"]
    assert isinstance(texts, list)
    spelt = dict(zip(THOUGHTS, CALL, strict=False))
    kinds = tokens.values["tokenizer.ggml.token_type"]
    assert isinstance(kinds, list)
    values = {
        **tokens.values,
        "tokenizer.ggml.tokens": [spelt.get(text, text) for text in texts],
        "tokenizer.ggml.token_type": [
            _USER_DEFINED if token and spelt.get(text) == CALL[0] else kind
            for text, kind in zip(texts, kinds, strict=True)
        ],
        "tokenizer.chat_template": OFFERS_TOOLS,
    }
    return write_walker(path, replace(tokens, values=values), ["\n", *CALL, "<turn|>"])


def write_walker(path: Path, tokens: Tokens, walk: list[str]) -> Path:
    """Write a model that writes each of these tokens after the one before it."""
    texts = tokens.values["tokenizer.ggml.tokens"]
    assert isinstance(texts, list)
    places = [texts.index(text) for text in walk]
    assert len(set(places)) == len(places), "a token can have one that follows it"
    random = np.random.default_rng(3)
    embedding = random.choice(np.array([-1, 1], np.float32), (tokens.count, _WIDTH))
    output = np.zeros_like(embedding)
    for token, follower in pairwise(places):
        output[follower] = embedding[token] * np.float32(_LOGIT / _WIDTH)
    tensors = {
        "token_embd.weight": Tensor(embedding.shape, lambda: embedding),
        "output_norm.weight": vector(_WIDTH),
        "output.weight": Tensor(output.shape, lambda: output),
    }
    for name in ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"):
        tensors[f"blk.0.{name}.weight"] = Tensor((_WIDTH, _WIDTH), _nothing)
    for name in ("attn_norm", "ffn_norm"):
        tensors[f"blk.0.{name}.weight"] = vector(_WIDTH)
    values = common("llama", "Made thinker", 1, _WIDTH, _WIDTH) | {
        "llama.attention.head_count": 4,
        "llama.attention.head_count_kv": 4,
        "llama.rope.dimension_count": _WIDTH // 4,
    }
    return write_model(path, "llama", values | dict(tokens.values), tensors)


def _nothing() -> Floats:
    return np.zeros((_WIDTH, _WIDTH), np.float32)
