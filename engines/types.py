"""The values that go into an engine and the events that come out of it.

Sizes are in bytes, lengths in tokens and times in seconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, Literal

from engines.memory.buffers import Buffers

EngineName = Literal["llamacpp", "vllm", "remote"]
"""The engines: llama.cpp in this process, Hearth's own vLLM worker, or another server."""

Role = Literal["system", "user", "assistant", "tool"]
FinishReason = Literal["stop", "length", "cancelled", "tool", "repetition"]
MtpMode = Literal["auto", "on", "off"]
MtpSwitch = Literal["request", "restart", "restart_for_on", "server"]
MtpKind = Literal["embedded", "drafter", "lookup", "none"]
"""The kinds of drafters: layers in the model's own file, a drafter file, or the text itself."""

Ability = Literal["chat", "thinks", "tools", "embeds", "sees", "hears"]
"""The abilities of a model.

Its chat template decides whether it can chat at all (a base model cannot), think before it
answers, and call tools. "embeds" is a model that produces vectors or rankings of texts instead of
answers. Its projector decides whether it takes pictures and sounds.
"""

MAX_DEPTH = 8
"""The largest number of tokens drafted ahead of the model."""

HEAD_BATCH = 128
"""The most tokens that a prediction head in the model's own file evaluates in one call.

On a processor a larger batch is no faster, and the head's buffers grow with it.
"""

KvType = Literal["f16", "q8_0", "q4_0"]

Thinking = Literal["none", "always", "switch"]
"""When a model reasons before it answers: never, always, or on request."""

ModelKind = Literal["chat", "embedding", "rerank"]
"""What a loaded model produces: answers, vectors of texts, or scores for ranking texts."""

MediaKind = Literal["image", "audio"]

ToolChoice = Literal["auto", "none", "required"]
"""The rule for tool calls in an answer: it may, must not or has to make them."""

Overflow = Literal["leave_out", "stop"]
"""What to do when a conversation outgrows the context: leave out the oldest turns, or fail."""


@dataclass(frozen=True)
class EngineStatus:
    """The present state of an engine.

    Attributes:
        state: "stopped" if nothing is loaded.
        words: Description of the current step of a load; "" if the engine has none.
        detail: How much of the step is done, or the part that it is at; "" if that is not known.
        share: Progress of the load, 0 to 1.
        log: The last lines that the worker wrote, oldest first; after it ended, those of the last
            worker.
        process: Process id of the worker's first process; 0 if it has none on this system.
        elsewhere: Whether it computes outside this system, on a server or in WSL2.
    """

    state: Literal["stopped", "loading", "ready"] = "stopped"
    words: str = ""
    share: float = 0.0
    log: tuple[str, ...] = ()
    process: int = 0
    elsewhere: bool = False
    detail: str = ""


@dataclass(frozen=True)
class ToolCall:
    """A tool call by the model.

    Attributes:
        arguments: JSON text as the model wrote it.
    """

    name: str
    arguments: str
    id: str = ""


@dataclass(frozen=True)
class ToolCallDelta:
    """The next piece of a tool call that is still being written.

    A ToolCall with the whole call follows, unless the answer is cut off in the middle of the
    arguments: then there is nothing to carry out.

    Attributes:
        index: Position of the call in the answer, from 0.
        name: Name of the tool, in every piece.
        id: Id of the call, in every piece.
        arguments: The next piece of the JSON text; "" in the first piece.
    """

    index: int
    name: str
    id: str
    arguments: str


@dataclass(frozen=True)
class Medium:
    """A picture or a sound in a message.

    Attributes:
        data: A file that llama.cpp reads itself: PNG, JPEG, BMP or GIF; WAV, MP3 or FLAC.
        sha256: SHA-256 of `data`, in hexadecimal.
        at: Number of characters of the message's text that stand before it.
    """

    kind: MediaKind
    data: bytes = field(repr=False)
    sha256: str
    at: int = 0


@dataclass(frozen=True)
class Message:
    """A message of a conversation.

    Attributes:
        pinned: Whether it stays in the prompt when others are left out.
        reasoning: The model's reasoning before this answer; the chat template decides whether the
            model sees it again.
        calls: The tool calls of an assistant's message.
        tool: In a message of role "tool", the name of the tool whose result is the text.
        call_id: In a message of role "tool", the id of the call that it answers.
        media: Pictures and sounds, in the order of their positions in the text.
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
    """The settings of the sampler.

    Attributes:
        temperature: 0 is greedy: always the likeliest token.
        top_k: 0 switches this step off.
        top_p: 1 switches this step off.
        min_p: 0 switches this step off.
        repeat_penalty: 1 switches this step off.
        seed: None draws a new one for each answer; the seed used is in `Done.seed`.
        grammar: GBNF whose rule "root" the whole answer must follow; None for a free answer.
        schema: JSON schema, as JSON text, that the whole answer must follow; not together with
            `grammar`.
        presence_penalty: Subtracted once from the logit of each token already in the answer; 0 is
            off.
        frequency_penalty: Subtracted from a token's logit for each time it is in the answer; 0 is
            off.
        logit_bias: Pairs of a token and the value added to its logit.
        logprobs: Number of likeliest tokens to report with each token of the answer; 0 reports the
            token alone, None reports nothing.
        ignore_end: Continue past the tokens that end a turn, until `max_tokens`, a stop string or
            one of `stop_tokens`. Not together with a grammar, a schema or tools.
        min_tokens: Nothing ends the answer before this many tokens, not even a stop string. Not
            together with a grammar, a schema or tools.
        stop_tokens: Tokens that end the answer, and are not part of it.
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
        """True if the answer has to follow a grammar or a schema."""
        return self.grammar is not None or self.schema is not None


@dataclass(frozen=True)
class Tool:
    """A tool that a model may call.

    Attributes:
        parameters: JSON schema of its arguments.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True)
class ChatRequest:
    """A conversation that ends with the message to answer.

    Attributes:
        messages: If the last one has the role "assistant", the engine continues that answer.
        max_tokens: None means until the model ends its turn or the context is full.
        mtp: "auto" drafts when that makes the answer faster, "on" always, "off" never.
        depth: Tokens to draft ahead, 1 to MAX_DEPTH; None picks the fastest depth.
        chat: Name of the conversation. The engine may keep computed state on disk under this name,
            so that it can be deleted with its chat; None keeps nothing on disk.
        thinking: Whether the model should reason first; None leaves it to the chat template.
        thinking_budget: Number of tokens after which the reasoning is ended; None for no limit.
        effort: How hard to reason, one of `LoadedModel.efforts`; None leaves it to the template.
        overflow: What to do if the messages do not fit the context.
        tools: The tools that the model may call; a call ends the answer with the reason "tool".
        tool_choice: Whether the model may, must not or has to call a tool.
        only_tool: The one tool it may call if it has to call one; "" allows all of them.
        parallel_tools: Whether one answer may contain several calls.
        prompt: Text or tokens to continue as they are, without a chat template or messages.
        suffix: Text that follows the answer to a text prompt; the answer fills the gap.
        echo: Send the prompt before its answer as `PromptEcho`, with the log probabilities of its
            tokens if `Sampling.logprobs` asks for those of the answer.
        adapter: Name of one of `LoadPlan.adapters` to answer with; None for the model alone.
        guest: Whether another program asks; prompts from this computer's user are read first.
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
        """True if the log probabilities of the prompt's tokens are requested."""
        return self.echo and self.sampling.logprobs is not None


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter.

    Attributes:
        name: The name by which requests choose it.
        path: A folder or a file.
        size_bytes: Size of a file, for the estimate; 0 for a folder.
    """

    name: str
    path: Path
    size_bytes: int = 0


@dataclass(frozen=True)
class LoadPlan:
    """The part of a plan that all engines on this computer share; see `LlamaPlan`, `VllmPlan`.

    Attributes:
        model: Path of the model.
        context: Tokens of the context.
        kv_type: Number format of the KV cache.
        drafter: The file or folder that drafts tokens for this model, if there is one.
        draft_max: Most tokens drafted ahead, up to MAX_DEPTH; 0 reserves no room for drafting.
        mtp_note: One sentence on what cannot draft for this model and why; "" if nothing is
            missing.
        anyway: Load the model even if it does not seem to fit.
        parallel: Number of simultaneous answers.
        adapters: LoRA adapters that requests can choose by name.
    """

    model: Path
    context: int
    _: KW_ONLY
    kv_type: KvType = "f16"
    drafter: Path | None = None
    draft_max: int = MAX_DEPTH
    mtp_note: str = ""
    anyway: bool = False
    parallel: int = 1
    adapters: tuple[Adapter, ...] = ()


@dataclass(frozen=True)
class LlamaPlan(LoadPlan):
    """The plan of a load into llama.cpp, made by `engines.memory.planner`.

    Each of the `parallel` answers has a context of its own, of the length `context`.

    Attributes:
        threads: Threads for evaluating one token at a time.
        batch_threads: Threads for evaluating a prompt.
        gpu_layers: Layers placed on GPUs; -1 for all of them, 0 for none.
        batch: Most tokens evaluated in one call of the library.
        projector: The file that turns pictures or sounds into embeddings for this model, if there
            is one.
        projector_note: A sentence why an existing projector is left out.
        kept_bytes: Memory for the KV caches of conversations other than the present one.
        repack: Allow copying weights into a layout that suits the processor. Copied weights cannot
            leave memory again, unlike the pages of a mapped file.
        devices: The devices that get layers, by the names of llama.cpp; the first device gets the
            first layers. Empty for all usable devices.
        experts_in_ram: Number of layers, from the first, whose mixture-of-experts weights stay in
            the computer's own memory, whatever `gpu_layers` says.
    """

    threads: int
    batch_threads: int
    gpu_layers: int = 0
    batch: int = 512
    mmap: bool = True
    projector: Path | None = None
    projector_note: str = ""
    kept_bytes: int = 256 << 20
    repack: bool = True
    devices: tuple[str, ...] = ()
    experts_in_ram: int = 0


@dataclass(frozen=True)
class VllmOptions:
    """The options that only vLLM has.

    Attributes:
        memory_share: Share of a card's memory that vLLM may take, above 0 and at most 1; None
            takes what the plan needs.
        cards: Number of cards that share each layer.
        nodes: Number of computers that share the layers.
        offload_bytes: Weights of each card that stay in the computer's own memory.
        batched: Most tokens that are evaluated in one step; None for vLLM's own number.
        prefix_cache: Keep the evaluated prompt for other prompts that begin the same way.
        pictures: Make room for pictures.
        sounds: Make room for sounds.
    """

    memory_share: float | None = None
    cards: int = 1
    nodes: int = 1
    offload_bytes: int = 0
    batched: int | None = None
    prefix_cache: bool = True
    pictures: bool = False
    sounds: bool = False


@dataclass(frozen=True)
class VllmPlan(LoadPlan):
    """The plan of a load into vLLM, made by `engines.memory.checkpoint_plan`.

    Attributes:
        lookup: Draft from the text itself.
        options: The user's options, without those that this model or computer cannot use.
    """

    lookup: bool = False
    options: VllmOptions = field(default_factory=VllmOptions)


@dataclass(frozen=True)
class ServedPlan:
    """The plan for a model on another server.

    Attributes:
        server: The id of the server's profile.
        model: The model's name there.
        context: Tokens of the context; 0 for the server's own.
    """

    server: str
    model: str
    context: int = 0


@dataclass(frozen=True)
class LoadedModel:
    """The model that an engine has loaded.

    For a server that does not report them, `parameters`, `size_bytes` and `context` are 0.

    Attributes:
        mtp: What can draft tokens for it.
        mtp_line: One sentence on what drafts or why nothing can, and, from the measured costs,
            whether drafting can make answers faster.
        buffers: The allocations that the library reports.
        grown_bytes: How much the process grew; None if that could not be measured.
        thinking: Whether it reasons, according to its chat template.
        thinks: Whether it reasons if the request does not say.
        efforts: The levels of reasoning effort, lowest first; empty if the template has none.
        effort: The default effort.
        mtp_switch: What a change of MTP takes: nothing ("request"), a restart of the engine between
            off and the other modes ("restart") or between on and the other modes
            ("restart_for_on"), or a change on somebody else's server ("server").
        restart_s: Duration of the last start, in seconds.
        notes: What this engine does differently from the plan, one sentence each.
        answers_at_once: Number of requests it answers side by side.
        kind: What it produces.
        dimensions: Length of its vectors; 0 if it produces none.
        sees: Whether messages may contain pictures; None if a server does not report it.
        hears: Whether messages may contain sounds; None if a server does not report it.
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
    """The context tokens that a request takes, counted without evaluating anything.

    Attributes:
        lengths: Tokens of each message, including an even share of the chat template's own tokens.
        total: Tokens of the prompt with all messages.
        kept: Tokens reserved for the answer.
        context: Tokens of the loaded model's context.
        left: Indexes of the messages that would have to be left out.
        prompt: Tokens of the prompt without those; if they do not fit the context, no answer is
            possible.
    """

    lengths: tuple[int, ...]
    total: int
    kept: int
    context: int
    left: tuple[int, ...]
    prompt: int


@dataclass(frozen=True)
class PromptReady:
    """An event: the prompt is rendered and its evaluation starts.

    Attributes:
        prompt_tokens: Tokens of the whole prompt.
        cached_tokens: Those that need no evaluation because their keys and values are still in the
            KV cache.
        left_out: Number of messages that did not fit the context and are not in the prompt.
        left: Their indexes in the request.
    """

    prompt_tokens: int
    cached_tokens: int
    left_out: int = 0
    left: tuple[int, ...] = ()


@dataclass(frozen=True)
class PromptProgress:
    """An event: a part of the prompt has been read, and more of it is left.

    Attributes:
        read_tokens: Tokens of the prompt that need no more reading, including the cached ones.
        prompt_tokens: Tokens of the whole prompt.
        left_s: Estimated seconds until the whole prompt is read; None if unknown.
    """

    read_tokens: int
    prompt_tokens: int
    left_s: float | None = None


@dataclass(frozen=True)
class TokenLogprob:
    """A token with its log probability (natural logarithm) before the sampler changed it.

    Attributes:
        token: Its number; -1 if a server does not report it.
        text: Its text, with replacement characters for an incomplete character.
        raw: Its bytes.
        logprob: NaN for the first token of a prompt, which nothing precedes.
        likeliest: The likeliest tokens at its position, most likely first.
    """

    token: int
    text: str
    raw: bytes
    logprob: float
    likeliest: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class PromptEcho:
    """An event: a prompt that was requested together with its answer, sent once it has been read.

    Attributes:
        text: The prompt; spelled from its tokens if `logprobs` is given.
        logprobs: Of the prompt's tokens, if requested.
    """

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class TextDelta:
    """The next piece of the answer, in whole characters.

    Attributes:
        logprobs: Of the tokens that ended in this piece, if requested.
    """

    text: str
    logprobs: tuple[TokenLogprob, ...] = ()


@dataclass(frozen=True)
class ReasoningDelta:
    """The next piece of the model's reasoning, which is not part of the answer."""

    text: str


@dataclass(frozen=True)
class WasReasoning:
    """An event: all text so far was reasoning; the model left out the opening marker."""


@dataclass(frozen=True)
class Usage:
    """The token counts of one answer.

    Attributes:
        completion_tokens: Tokens of the answer with its reasoning.
        context: Tokens of the loaded model's context.
        left_out: Number of messages that did not fit the context.
        reasoning_tokens: Completion tokens that are reasoning, without markers.
        guessed: Whether the completion was not counted but estimated from the length of the text.
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
    """The times of an answer, as the engine measured them. A rate is 0 if it was not measured.

    Attributes:
        ttft_s: Seconds from the request to the first token.
        prefill_tok_s: Prompt tokens evaluated per second.
        decode_tok_s: Tokens written per second.
    """

    load_s: float
    ttft_s: float
    prefill_tok_s: float
    decode_tok_s: float


def takes_restart(switch: MtpSwitch, before: MtpMode, after: MtpMode) -> bool:
    """Return whether the engine has to restart to change from one MTP mode to another."""
    restarting_mode: Mapping[MtpSwitch, MtpMode] = {"restart": "off", "restart_for_on": "on"}
    mode = restarting_mode.get(switch)
    return mode is not None and (before == mode) != (after == mode)


@dataclass(frozen=True)
class MtpReport:
    """The state of multi-token prediction, with its reason; also an event during an answer.

    Attributes:
        depth: Tokens drafted ahead now; at the end of an answer, the usual number.
        drafted: Number of drafted tokens.
        accepted: Number of accepted tokens.
        gain: Decoding speed relative to that without MTP; None until measured.
        bound: The largest gain that the cost of checking drafts and the acceptance so far allow.
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
    """A comparison of a greedy answer with MTP to one without.

    Attributes:
        identical: Whether both have the same tokens.
        tokens: Number of tokens compared, up to the first difference.
        depth: Tokens drafted ahead.
        accepted: Drafted tokens that became part of the answer.
        gap: At the first difference, the distance between the logits of the two tokens without MTP,
            in standard deviations of all logits there; near zero is a tie. None if nothing differs.
    """

    identical: bool
    tokens: int
    depth: int
    accepted: int
    gap: float | None = None


@dataclass(frozen=True)
class Done:
    """The last event of every answer that did not raise an error.

    Attributes:
        notes: What the engine did differently from the request, one sentence each.
        stop: The stop string that ended the answer; "" if none did or a server does not report it.
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
    """The vectors of texts, one for each text, normalised to length 1.

    Attributes:
        tokens: Number of tokens read for them.
    """

    vectors: tuple[tuple[float, ...], ...]
    tokens: int


@dataclass(frozen=True)
class Ranking:
    """Scores of how well documents answer a question.

    Attributes:
        scores: One for each document; higher is better.
        tokens: Number of tokens read for them.
    """

    scores: tuple[float, ...]
    tokens: int


Event = (
    PromptReady
    | PromptProgress
    | PromptEcho
    | TextDelta
    | ReasoningDelta
    | WasReasoning
    | ToolCallDelta
    | ToolCall
    | MtpReport
    | Done
)
