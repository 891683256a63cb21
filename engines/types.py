"""The values that go into an engine and the events that come out of it.

Sizes are bytes, lengths are tokens, times are seconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "cancelled", "tool"]
MtpMode = Literal["auto", "on", "off"]
KvType = Literal["f16", "q8_0", "q4_0"]


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: Role
    text: str


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn. A temperature of 0 is greedy: always the likeliest token.

    top_k 0, top_p 1, min_p 0 and repeat_penalty 1 switch their step off.
    seed None draws a fresh one for each answer; the one used is in `Done.seed`.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    seed: int | None = None


@dataclass(frozen=True)
class ChatRequest:
    """A conversation that ends with the message to answer.

    A last message of role "assistant" is a part of an answer that the engine goes on with.
    max_tokens None means: until the model ends its turn or the context is full.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    mtp: MtpMode = "auto"


@dataclass(frozen=True)
class LoadPlan:
    """What to load and how; made by `engines.planner`, carried out by an engine.

    gpu_layers: layers placed on GPUs, -1 for all of them, 0 for none.
    threads, batch_threads: for one token at a time, and for evaluating a prompt.
    batch: most tokens evaluated in one call of the library.
    """

    model: Path
    context: int
    threads: int
    batch_threads: int
    gpu_layers: int = 0
    kv_type: KvType = "f16"
    batch: int = 512
    mmap: bool = True


@dataclass(frozen=True)
class LoadedModel:
    """What an engine says of the model it has loaded."""

    name: str
    architecture: str
    parameters: int
    size_bytes: int
    context: int
    context_trained: int
    device: str
    load_s: float


@dataclass(frozen=True)
class PromptReady:
    """The prompt is rendered; its evaluation starts.

    prompt_tokens counts the whole prompt, cached_tokens those of it that need no evaluation
    because their keys and values are still in the KV cache.
    left_out: messages, oldest first, that did not fit the context and are not in the prompt.
    """

    prompt_tokens: int
    cached_tokens: int
    left_out: int = 0


@dataclass(frozen=True)
class TextDelta:
    """The next piece of the answer: whole characters only."""

    text: str


@dataclass(frozen=True)
class ReasoningDelta:
    """The next piece of the model's reasoning, which is not part of the answer."""

    text: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer. context is the size of the loaded model's context."""

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    context: int
    left_out: int = 0


@dataclass(frozen=True)
class Timing:
    """Measured by the engine. ttft_s: from the request to the first token."""

    load_s: float
    ttft_s: float
    prefill_tok_s: float
    decode_tok_s: float


@dataclass(frozen=True)
class MtpReport:
    """Whether multi-token prediction ran, and in one sentence why or why not."""

    mode: MtpMode
    active: bool
    reason: str
    depth: int = 0
    drafted: int = 0
    accepted: int = 0


@dataclass(frozen=True)
class Done:
    """The last event of every answer that did not raise."""

    finish_reason: FinishReason
    usage: Usage
    timing: Timing
    mtp: MtpReport
    seed: int


Event = PromptReady | TextDelta | ReasoningDelta | Done
