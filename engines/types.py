"""The values that go into an engine and the events that come out of it.

Sizes are bytes, lengths are tokens, times are seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from engines.memory.buffers import Buffers

EngineName = Literal["llamacpp", "vllm", "remote"]
"""The engines: this process, the worker that Hearth looks after, another server."""

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "cancelled", "tool", "repetition"]
MtpMode = Literal["auto", "on", "off"]
MtpSwitch = Literal["request", "restart", "restart_for_on", "server"]
MtpKind = Literal["embedded", "drafter", "lookup", "none"]
"""The kinds of drafters: layers in the model's own file, a drafter's file, the text itself."""

Ability = Literal["chat", "thinks", "tools", "embeds", "sees", "hears"]
"""What a model can do by its chat template: chat at all (a base model has none), think before it
answers, and call tools; or that it gives no answers, but vectors or ranks of texts. By its
projector: take pictures and sounds."""

MAX_DEPTH = 8
"""Most tokens that are drafted ahead of the model."""

HEAD_BATCH = 128
"""Most tokens that a head in the model's own file evaluates in one call. On a processor more are no
faster, and its buffers grow with them."""

KvType = Literal["f16", "q8_0", "q4_0"]

Thinking = Literal["none", "always", "switch"]
"""Whether a model reasons before it answers: never, always, or as it is asked to."""

ModelKind = Literal["chat", "embedding", "rerank"]
"""What a loaded model gives: answers, vectors of texts, or how well texts answer a question."""

MediaKind = Literal["image", "audio"]

ToolChoice = Literal["auto", "none", "required"]
"""Whether an answer may ask for tools, must not, or has to."""

Overflow = Literal["leave_out", "stop"]
"""The policy when a conversation outgrows the context: the oldest turns leave, or it is an
error."""


@dataclass(frozen=True)
class EngineStatus:
    """The state of an engine at this moment.

    state: "stopped" where nothing is loaded. words, share: what a load does just now, "" where the
    engine has no words for it, and how far it is, 0 to 1.
    log: the last lines that its worker wrote, oldest first; those of the last worker once it has
    ended. process: the number of the worker's first process; 0 where it has none on this system.
    elsewhere: it computes outside this system, on a server or in WSL2.
    """

    state: Literal["stopped", "loading", "ready"] = "stopped"
    words: str = ""
    share: float = 0.0
    log: tuple[str, ...] = ()
    process: int = 0
    elsewhere: bool = False


@dataclass(frozen=True)
class ToolCall:
    """The model asks for a tool. arguments: JSON text as the model wrote it."""

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True)
class ToolCallDelta:
    """The next piece of a call that is still being written; a ToolCall with all of it follows.

    Where the answer is cut off in the middle of its arguments, none does: there is nothing to carry
    out then. index: which call of the answer it is, from 0. name, id: of the call, in every piece.
    arguments: the next piece of its JSON text; "" in the first.
    """

    index: int
    name: str
    id: str
    arguments: str


@dataclass(frozen=True)
class Medium:
    """A picture or a sound in a message.

    data: a file that llama.cpp reads itself: PNG, JPEG, BMP or GIF; WAV, MP3 or FLAC. sha256: of
    data, in hexadecimal. at: so many characters of the message's text stand before it.
    """

    kind: MediaKind
    data: bytes = field(repr=False)
    sha256: str
    at: int = 0


@dataclass(frozen=True)
class Message:
    """A message of a conversation.

    pinned: it stays in the prompt when others leave. reasoning: what the model thought before this
    answer; a chat template decides whether it sees it again. media: its pictures and sounds, in the
    order of their places in the text.
    calls: the tools that an assistant's message asked for. tool, call_id: of a message of role
    "tool", whose text is a tool's result, the tool's name and the id of the call it answers.
    """

    role: Role
    text: str
    pinned: bool = False
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    tool: str = ""
    call_id: str = ""
    media: tuple[Medium, ...] = ()


@dataclass(frozen=True)
class Sampling:
    """The settings of the sampler. A temperature of 0 is greedy: always the likeliest token.

    top_k 0, top_p 1, min_p 0 and repeat_penalty 1 switch their step off.
    seed None draws a fresh one for each answer; the one used is in `Done.seed`.
    grammar: GBNF whose rule "root" the whole answer must follow; None leaves it free.
    schema: JSON schema, as JSON text, that the whole answer must follow; at most one of the two.
    presence_penalty, frequency_penalty: taken off the logit of a token that is in the answer
    already, once and for each time; 0 switches them off. logit_bias: added to a token's logit.
    logprobs: how many of the likeliest tokens to tell for each token of the answer, 0 for the
    token alone; None tells none.
    ignore_end: the answer goes on past the tokens that end a turn, until max_tokens, a stop string
    or one of stop_tokens. min_tokens: nothing ends the answer before so many tokens, not even a
    stop string. Neither can be combined with a grammar, a schema or tools. stop_tokens: tokens
    that end the answer; they are no part of it.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    seed: int | None = None
    grammar: str | None = None
    schema: str | None = None
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    logit_bias: tuple[tuple[int, float], ...] = ()
    logprobs: int | None = None
    ignore_end: bool = False
    min_tokens: int = 0
    stop_tokens: tuple[int, ...] = ()

    @property
    def guided(self) -> bool:
        """Whether the answer has to follow a grammar or a schema."""
        return self.grammar is not None or self.schema is not None


@dataclass(frozen=True)
class Tool:
    """A tool that a model may ask for. parameters: a JSON schema of its arguments."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ChatRequest:
    """A conversation that ends with the message to answer.

    A last message of role "assistant" is a part of an answer that the engine goes on with.
    max_tokens None means: until the model ends its turn or the context is full.
    mtp: "auto" drafts where it pays, "on" always, "off" never. depth: tokens to draft ahead, 1 to
    MAX_DEPTH, where it is not to be chosen by what pays.
    chat: names the conversation; what the engine computed for it may be kept on disk under this
    name, so that it can go with its chat. None keeps nothing there.
    thinking: whether the model shall reason first; None as its chat template has it by itself.
    effort: how hard it shall reason, one of `LoadedModel.efforts`; None as the template has it.
    thinking_budget: tokens after which its reasoning is ended; None sets no limit.
    overflow: what to do where the messages do not fit the context.
    tools: what the model may ask for; asking ends its answer with the reason "tool".
    tool_choice: whether it may, must not or has to ask. only_tool: the one that it may ask for,
    where it has to; "" leaves it all of them. parallel_tools: it may ask for several at once.
    prompt: text or tokens to go on with as they are, without a chat template; then there are no
    messages. suffix: text that comes behind the answer to a prompt of text, which fills the gap.
    echo: the prompt comes before its answer as `PromptEcho`, with the probabilities of its tokens
    where `Sampling.logprobs` asks for those of the answer's.
    adapter: the name of one of `LoadPlan.adapters` to answer with; None is the model by itself.
    guest: another program asks; the prompts of those who ask here are read first.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int | None = None
    stop: tuple[str, ...] = ()
    mtp: MtpMode = "auto"
    depth: int | None = None
    chat: str | None = None
    thinking: bool | None = None
    thinking_budget: int | None = None
    effort: str | None = None
    overflow: Overflow = "leave_out"
    tools: tuple[Tool, ...] = ()
    tool_choice: ToolChoice = "auto"
    only_tool: str = ""
    parallel_tools: bool = True
    prompt: str | tuple[int, ...] | None = None
    suffix: str = ""
    echo: bool = False
    adapter: str | None = None
    guest: bool = False

    @property
    def judges_prompt(self) -> bool:
        """Whether the probabilities of the prompt's tokens are asked for."""
        return self.echo and self.sampling.logprobs is not None


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter: a folder or file, and the name by which it is asked for.

    size_bytes: of a file, for the estimate; 0 for a folder.
    """

    name: str
    path: Path
    size_bytes: int = 0


@dataclass(frozen=True)
class LoadPlan:
    """The plan of a load; made by `engines.memory.planner`, carried out by an engine.

    gpu_layers: layers placed on GPUs, -1 for all of them, 0 for none.
    threads, batch_threads: for one token at a time, and for evaluating a prompt.
    batch: most tokens evaluated in one call of the library.
    drafter: the file that drafts tokens for this model, if there is one. projector: the file that
    turns pictures or sounds into embeddings for this model, if there is one; projector_note: why it
    is left out, a sentence where one is there.
    draft_max: most tokens drafted ahead, up to MAX_DEPTH; 0 makes no room for drafting at all.
    lookup: they come from the text itself, for engines that settle that when they start.
    kept_bytes: memory for the KV caches of conversations other than the present one.
    mtp_note: one sentence on what cannot draft for this model and why; empty if all is there.
    anyway: load it even if it does not seem to fit.
    repack: weights may be copied into a layout that suits the processor. What is copied cannot
    leave memory again, as the pages of a mapped file can.
    devices: the devices that layers go to, as the engine's library calls them, the first gets the
    first layers; none named is all that can be used.
    experts_in_ram: of so many layers, from the first, the experts of a mixture stay in the
    computer's own memory, whatever gpu_layers says.
    parallel: conversations that are answered at once; with llama.cpp each has a context of its own,
    as long as `context` says.
    memory_share: the part of a card's memory that an engine may take, above 0, at most 1; None is
    what the plan needs. tensor_parallel: cards that share each layer. nodes: computers that share
    layers.
    adapters: LoRA adapters that can be asked for by name.
    offload_bytes: weights of each card that stay in the computer's own memory. batched: most tokens
    that an engine with a process of its own evaluates in one step, 0 for its own number.
    prefix_cache: what was read of a prompt is kept for others that begin like it. pictures, sounds:
    an engine that needs no projector makes room for them.
    server, served: for a model on another server, its profile's id and the model's name there;
    `model` is then that name too, and no file.
    """

    model: Path
    context: int
    threads: int
    batch_threads: int
    gpu_layers: int = 0
    kv_type: KvType = "f16"
    batch: int = 512
    mmap: bool = True
    drafter: Path | None = None
    projector: Path | None = None
    projector_note: str = ""
    draft_max: int = MAX_DEPTH
    lookup: bool = False
    kept_bytes: int = 256 << 20
    mtp_note: str = ""
    anyway: bool = False
    repack: bool = True
    devices: tuple[str, ...] = ()
    experts_in_ram: int = 0
    parallel: int = 1
    memory_share: float | None = None
    tensor_parallel: int = 1
    nodes: int = 1
    adapters: tuple[Adapter, ...] = ()
    offload_bytes: int = 0
    batched: int = 0
    prefix_cache: bool = True
    pictures: bool = False
    sounds: bool = False
    server: str = ""
    served: str = ""


@dataclass(frozen=True)
class LoadedModel:
    """The description of the model that an engine has loaded.

    mtp: what can guess tokens ahead for it. mtp_line: one sentence that says so, or why nothing
    can, and from the measured costs whether it can pay.
    buffers: what the library says that it allocated. grown_bytes: what the process grew by, None
    where that could not be measured. thinking: as the model's chat template has it; thinks:
    whether it reasons where nothing is asked for. efforts: how hard it can be asked to reason, the
    least first; none where the template has no such thing. effort: the usual one of them.
    mtp_switch: what it takes to change MTP: nothing ("request"), a new start of the engine between
    off and the others ("restart") or between on and the others ("restart_for_on"), or somebody
    else's doing ("server"). restart_s: how long the last start took, in seconds. notes: what of the
    plan this engine does otherwise, one sentence each.
    answers_at_once: how many requests it answers side by side.
    kind: what it gives. dimensions: the length of its vectors, 0 where it gives none.
    sees, hears: whether messages may have pictures and sounds; None where a server does not tell.
    Of a server that does not tell, parameters and size_bytes are 0 and context is 0.
    """

    name: str
    architecture: str
    parameters: int
    size_bytes: int
    context: int
    context_trained: int
    device: str
    load_s: float
    mtp: MtpKind = "none"
    mtp_line: str = ""
    buffers: Buffers | None = None
    grown_bytes: int | None = None
    thinking: Thinking = "none"
    thinks: bool = False
    efforts: tuple[str, ...] = ()
    effort: str = ""
    mtp_switch: MtpSwitch = "request"
    restart_s: float = 0.0
    notes: tuple[str, ...] = ()
    answers_at_once: int = 1
    kind: ModelKind = "chat"
    dimensions: int = 0
    sees: bool | None = False
    hears: bool | None = False


@dataclass(frozen=True)
class Measured:
    """The tokens that a request takes of the context; nothing is evaluated for it.

    lengths: tokens of each message, with its even share of the chat template's own. total: of the
    prompt with all of them. kept: room for the answer. context: of the loaded model.
    left: the messages that would have to leave, by their place. prompt: tokens of what is left
    without them; no answer is possible where they do not fit the context.
    """

    lengths: tuple[int, ...]
    total: int
    kept: int
    context: int
    left: tuple[int, ...]
    prompt: int


@dataclass(frozen=True)
class PromptReady:
    """The prompt is rendered; its evaluation starts.

    prompt_tokens counts the whole prompt, cached_tokens those of it that need no evaluation
    because their keys and values are still in the KV cache.
    left_out: how many messages did not fit the context and are not in the prompt. left: which ones,
    by their place in the request.
    """

    prompt_tokens: int
    cached_tokens: int
    left_out: int = 0
    left: tuple[int, ...] = ()


@dataclass(frozen=True)
class TokenLogprob:
    """A token with the natural logarithm of its probability before the sampler changed it.

    token: its number, -1 where a server does not tell it. logprob: not a number for the first token
    of a prompt, before which there is nothing.
    text: what it stands for, with replacement characters where that is half a character; raw: its
    bytes. likeliest: the likeliest tokens at its place, the first first.
    """

    token: int
    text: str
    raw: bytes
    logprob: float
    likeliest: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class PromptEcho:
    """A prompt that was asked for with its answer; comes once it is read.

    logprobs: of its tokens, where they were asked for; the text is what these spell, then.
    """

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class TextDelta:
    """The next piece of the answer: whole characters only.

    logprobs: of the tokens that ended in it, where they were asked for.
    """

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class ReasoningDelta:
    """The next piece of the model's reasoning, which is not part of the answer."""

    text: str


@dataclass(frozen=True)
class WasReasoning:
    """The text so far was all reasoning, of which the model left out the opening marker."""


@dataclass(frozen=True)
class Usage:
    """Tokens of one answer. context is the size of the loaded model's context.

    reasoning_tokens: those of the completion that are the model's reasoning, without markers.
    guessed: nobody counted the completion; its tokens are a guess by the length of the text.
    """

    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    context: int
    left_out: int = 0
    reasoning_tokens: int = 0
    guessed: bool = False


@dataclass(frozen=True)
class Timing:
    """The times of an answer, as the engine measured them. ttft_s: from request to first token.

    A rate is 0 where it was not measured.
    """

    load_s: float
    ttft_s: float
    prefill_tok_s: float
    decode_tok_s: float


def takes_restart(switch: MtpSwitch, before: MtpMode, after: MtpMode) -> bool:
    """Tell whether an engine has to start again where one mode follows another."""
    border: Mapping[MtpSwitch, MtpMode] = {"restart": "off", "restart_for_on": "on"}
    apart = border.get(switch)
    return apart is not None and (before == apart) != (after == apart)


@dataclass(frozen=True)
class MtpReport:
    """The state of multi-token prediction, with its reason; also an event while answering.

    depth: tokens drafted ahead now, or at the end the usual number. drafted, accepted: tokens.
    gain: decoding speed over that without MTP, as far as it was measured; None before that.
    bound: the most that the cost of checking drafts and the acceptance so far allow.
    """

    mode: MtpMode
    active: bool
    reason: str
    kind: MtpKind = "none"
    depth: int = 0
    drafted: int = 0
    accepted: int = 0
    gain: float | None = None
    bound: float | None = None


@dataclass(frozen=True)
class MtpCheck:
    """Whether a greedy answer with MTP has the tokens of the one without.

    tokens: compared, up to the first that differs. depth: tokens drafted ahead. accepted: drafted
    tokens that became part of the answer.
    gap: where they differ, how far the logits of the two tokens are apart without MTP, in units
    of the standard deviation of all logits there; a tie is a gap near zero. None if nothing
    differs.
    """

    identical: bool
    tokens: int
    depth: int
    accepted: int
    gap: float | None = None


@dataclass(frozen=True)
class Done:
    """The last event of every answer that did not raise.

    notes: what of the request the engine did otherwise, one sentence each. stop: which of the
    request's stop strings ended it; "" for none, and where a server does not tell.
    """

    finish_reason: FinishReason
    usage: Usage
    timing: Timing
    mtp: MtpReport
    seed: int
    notes: tuple[str, ...] = ()
    stop: str = ""


@dataclass(frozen=True)
class Vectors:
    """The vectors of texts, one each, of length 1. tokens: that were read for them."""

    vectors: tuple[tuple[float, ...], ...]
    tokens: int


@dataclass(frozen=True)
class Ranking:
    """How well documents answer a question: one score each, higher is better.

    tokens: that were read for them.
    """

    scores: tuple[float, ...]
    tokens: int


Event = (
    PromptReady
    | PromptEcho
    | TextDelta
    | ReasoningDelta
    | WasReasoning
    | ToolCallDelta
    | ToolCall
    | MtpReport
    | Done
)
