"""The guide's vocabulary: a small BPE of the Gemma 4 kind (spaces as ▁, byte fallback)."""

import json
from collections.abc import Iterable
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers
from transformers import GemmaTokenizer

VOCABULARY = 2048
CONTEXT = 4096

PAD, EOS, BOS, UNK, MASK = "<pad>", "<eos>", "<bos>", "<unk>", "<mask>"
TURN_START, TURN_END = "<|turn>", "<turn|>"
MARKERS = (
    TURN_START,
    TURN_END,
    "<|think|>",
    "<|channel>",
    "<channel|>",
    "<|tool>",
    "<tool|>",
    "<|tool_call>",
    "<tool_call|>",
    "<|tool_response>",
    "<tool_response|>",
    '<|"|>',
)
"""Gemma 4's markers. The guide only uses the two turn markers; a client may rely on the rest."""

_SPACE = "▁"
_NEWLINES = ("\n", "\n\n")


def train(texts: Iterable[str], template: Path) -> GemmaTokenizer:
    """Learn merges from `texts`.

    Merges are learned inside words (Gemma's own tokenizer would merge across them, and with so
    little text whole answers would become single tokens); the finished tokenizer applies them to
    the whole text, as Gemma's does.
    """
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.Replace(" ", _SPACE)
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split("\n", "removed"),
            pre_tokenizers.Split(Regex(f"{_SPACE}?[^\\W\\d_]+|{_SPACE}|."), "isolated"),
        ]
    )
    head = [PAD, EOS, BOS, UNK, MASK, *MARKERS, *(f"<0x{byte:02X}>" for byte in range(256))]
    head += _NEWLINES
    learner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=VOCABULARY - len(head),
            initial_alphabet=[chr(code) for code in range(33, 127)] + [_SPACE],
            limit_alphabet=140,
            show_progress=False,
        ),
    )
    return _assemble(learner, head, template)


def _assemble(learner: Tokenizer, head: list[str], template: Path) -> GemmaTokenizer:
    learned = learner.get_vocab(with_added_tokens=False)
    pieces = head + sorted(learned, key=learned.__getitem__)
    merges = [(_NEWLINES[0], _NEWLINES[0]), *_merges(learner)]
    tokenizer = GemmaTokenizer(
        vocab={piece: index for index, piece in enumerate(pieces)},
        merges=merges,
        extra_special_tokens=list(MARKERS),
        model_max_length=CONTEXT,
    )
    tokenizer.chat_template = template.read_text(encoding="utf-8")
    return tokenizer


def _merges(learner: Tokenizer) -> list[tuple[str, str]]:
    merges = json.loads(learner.to_str())["model"]["merges"]
    return [(left, right) for left, right in merges]
