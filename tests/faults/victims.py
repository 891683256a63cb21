"""Small models of several architectures to damage, with the files that are loaded with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engines.types import LlamaPlan
from tests.engines.llamacpp.random_models import (
    STARTER,
    Size,
    byte_tokenizer,
    sentencepiece_tokenizer,
    write_random_llama,
    write_random_mamba,
)
from tests.support.made_fed import write_dflash, write_eagle
from tests.support.mtp_models import write_qwen, write_step

DRAFTER = STARTER.with_name("starter-mtp.gguf")
_SMALL = Size(layers=2, width=64, heads=4, kv_heads=2, inner=96)
_TEMPLATE = "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"


@dataclass(frozen=True)
class Victim:
    """A model to damage.

    Attributes:
        data: The undamaged file.
        plan: Makes the plan for a damaged file.
        weight: Its share of the damaged files, in proportion.
    """

    name: str
    data: bytes
    plan: Callable[[Path], LlamaPlan]
    weight: int = 2


def plan_for(model: Path, drafter: Path | None = None, draft_max: int = 2) -> LlamaPlan:
    return LlamaPlan(
        model, context=256, threads=1, batch_threads=1, drafter=drafter, draft_max=draft_max
    )


def victims(folder: Path) -> list[Victim]:
    plain = [
        ("llama", write_random_llama(folder / "llama.gguf", _SMALL, tokenizer=_bytes())),
        (
            "q8_0",
            write_random_llama(folder / "q8.gguf", _SMALL, quantised=True, tokenizer=_bytes()),
        ),
        ("sentencepiece", write_random_llama(folder / "spm.gguf", _SMALL, tokenizer=_letters())),
        ("mamba", write_random_mamba(folder / "mamba.gguf")),
    ]
    heads = [
        ("qwen35", write_qwen(folder / "qwen35.gguf")),
        ("step35", write_step(folder / "step35.gguf")),
    ]
    whole = folder / "fed.gguf"
    fed = [
        ("eagle3", write_eagle(folder / "eagle3.gguf")),
        ("dflash", write_dflash(folder / "dflash.gguf", second=True)),
        ("dspark", write_dflash(folder / "dspark.gguf", markov=True)),
    ]
    write_qwen(whole)
    return [
        Victim("gemma4", STARTER.read_bytes(), lambda model: plan_for(model, DRAFTER), 3),
        Victim("drafter", DRAFTER.read_bytes(), lambda drafter: plan_for(STARTER, drafter), 3),
        *(Victim(name, path.read_bytes(), lambda m: plan_for(m, None, 0)) for name, path in plain),
        *(Victim(name, path.read_bytes(), plan_for) for name, path in heads),
        *(Victim(name, path.read_bytes(), lambda d: plan_for(whole, d), 1) for name, path in fed),
    ]


def _bytes() -> dict[str, object]:
    return dict(byte_tokenizer("gpt-2", _TEMPLATE))


def _letters() -> dict[str, object]:
    return dict(sentencepiece_tokenizer(256))
