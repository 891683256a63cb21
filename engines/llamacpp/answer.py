"""One answer of a loaded model, from the prompt through the tokens to the text and the figures."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from secrets import token_hex
from time import perf_counter

from engines.cancel import CancelToken
from engines.dialect import CallReader
from engines.errors import Cancelled
from engines.llamacpp.cache import KvCache
from engines.llamacpp.cells import only_text
from engines.llamacpp.decoder import Decoding
from engines.llamacpp.guided import GuidedSampler, open_sampler
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.logprobs import AttachedLogprobs, LogprobSampler, PromptJudge
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.sampling import EndlessSampler, Sampler, actual_seed
from engines.llamacpp.speculative import mtp_status
from engines.llamacpp.speculative.speculation import Speculation
from engines.llamacpp.steered import CallGuide, steered
from engines.llamacpp.writer import Writer
from engines.sentences import N_
from engines.types import (
    ChatRequest,
    Done,
    Event,
    FinishReason,
    MtpReport,
    PromptEcho,
    PromptProgress,
    PromptReady,
    Sampling,
    Timing,
    Usage,
)


def answer(
    borrowed: AbstractContextManager[Loaded], request: ChatRequest, cancel: CancelToken
) -> Generator[Event, None, None]:
    """Yield the events of `Engine.chat`; the model stays lent until the last of them.

    Raises:
        GrammarInvalid: The grammar or schema of the request cannot be used.
        TemplateFailed: The chat template fails.
        ContextFull: The conversation does not fit, and the request allows no cuts.
        MessageTooLong: The prompt does not fit even without its oldest turns.
        Unsupported: The model cannot do what the request asks for.
        EngineFailed: llama.cpp failed.
    """
    with borrowed as loaded:
        began, seed = perf_counter(), actual_seed(request.sampling)
        try:
            prompt = loaded.prompter.write(request, loaded.known(request.chat), cancel)
        except Cancelled:
            yield PromptReady(0, 0)
            yield _nothing(loaded, request, seed)
            return
        try:
            calls = CallGuide(loaded, request, prompt, cancel) if _can_call(request) else None
            opened = _sampler(loaded, request, prompt, seed, calls, cancel)
        except Cancelled:
            yield PromptReady(0, 0)
            yield _nothing(loaded, request, seed)
            return
        with (
            closing(opened) as sampler,
            loaded.slot(prompt, request) as (slot, speculation),
        ):
            current = _Answer(loaded, slot.cache, speculation, request, prompt, sampler, cancel)
            yield PromptReady(len(prompt.tokens), current.cached, len(prompt.left), prompt.left)
            try:
                with closing(current.draw()) as tokens:
                    for token in tokens:
                        if isinstance(token, PromptProgress):
                            yield token
                            continue
                        yield from current.echo()
                        if request.max_tokens == 0:
                            break
                        yield from current.take(token)
                        if current.writer.stopped:
                            break
                yield from current.echo()
                if not current.writer.stopped:
                    yield from current.finish()
            finally:
                current.remember()
            yield replace(current.done(began, seed), notes=_notes(calls))


class _Answer:
    """An answer that is being decoded: its tokens, their text and its figures.

    Attributes:
        cached: Number of prompt tokens that were already in the KV cache.
        decoding: The answer's part of the shared evaluations.
        writer: Turns the tokens into text and calls.
    """

    def __init__(
        self,
        loaded: Loaded,
        cache: KvCache,
        speculation: Speculation | None,
        request: ChatRequest,
        prompt: Prompt,
        sampler: Sampler,
        cancel: CancelToken,
    ) -> None:
        self._loaded = loaded
        self._cache = cache
        self._request = request
        self._prompt = prompt
        self._piece = loaded.model.vocabulary.piece
        # In a raw prompt, markers have no meaning.
        self._markers = loaded.markers if request.prompt is None else {}
        self._tokens: list[int] = []
        self.cached = len(cache.tokens)
        self._speculation = speculation
        self._echoes = request.echo
        self._judge: PromptJudge | None = None
        if request.judges_prompt:
            count = request.sampling.logprobs or 0
            vocabulary = loaded.model.vocabulary
            self._judge = PromptJudge(loaded.native, vocabulary, prompt.tokens, count)
        self.decoding = Decoding(
            loaded.context,
            cache,
            loaded.model.vocabulary,
            sampler,
            speculation,
            cancel,
            guest=request.guest,
            stop_tokens=request.sampling.stop_tokens,
            judge=self._judge,
        )
        own_ends = request.prompt is None and not request.sampling.ignore_end
        stops = (*request.stop, *(loaded.dialect.stops if own_ends else ()))
        calls = _call_reader(loaded, request)
        splitter = loaded.dialect.splitter(prompt.rendered, calls)
        self.writer = Writer(splitter, stops, calls, request.sampling.min_tokens)
        self._logprobs: AttachedLogprobs | None = None
        if isinstance(sampler, LogprobSampler):
            self._logprobs = AttachedLogprobs(sampler, splitter)

    def draw(self) -> Generator[int | PromptProgress, None, None]:
        """Yield the progress of reading the prompt, then each token as soon as it is drawn."""
        prompt = self._prompt
        if (media := self._loaded.media_of(prompt)) is not None:
            self.decoding.encode_media(media, self.cached)
        most = self._request.max_tokens
        if self._judge is not None and most == 0:
            most = 1  # so that the prompt is evaluated; this token is not passed on
        return self._loaded.scheduler.tokens(self.decoding, prompt.tokens, most, prompt.stable)

    def echo(self) -> Iterator[Event]:
        """Yield the prompt once, after it was evaluated, if the request asks for it."""
        if not self._echoes or self.decoding.finish == "cancelled":
            return
        self._echoes = False
        raw_prompt, tokens = self._request.prompt, self._prompt.tokens
        vocabulary = self._loaded.model.vocabulary
        # If the prompt is text, the BOS token was added automatically and is not echoed.
        first = int(
            isinstance(raw_prompt, str) and vocabulary.adds_bos and tokens[0] == vocabulary.bos
        )
        first = first if len(tokens) > 1 else 0
        text = raw_prompt
        if not isinstance(text, str):
            text = b"".join(map(vocabulary.display_bytes, tokens)).decode(errors="replace")
        yield PromptEcho(text, self._judge.noted(first) if self._judge is not None else ())

    def take(self, token: int) -> Sequence[Event]:
        """Take the next token and return the events that it adds: text, and news of the drafts."""
        self._tokens.append(token)
        if self._logprobs is not None:
            self._logprobs.take()
        deltas = self._with_logprobs(
            self.writer.feed(self._piece(token), self._markers.get(token, ""))
        )
        if self._speculation is None or self.writer.stopped:
            return deltas
        news = self._speculation.news()
        return [*deltas, news] if news else deltas

    def finish(self) -> Sequence[Event]:
        """Return the events of the text that was held back; call it after the last token."""
        return self._with_logprobs(self.writer.finish(ended=self.decoding.finish == "stop"))

    def _with_logprobs(self, deltas: Sequence[Event]) -> Sequence[Event]:
        return deltas if self._logprobs is None else self._logprobs.attached(deltas)

    def remember(self) -> None:
        """Remember the answer's tokens, for when the chat's next prompt contains its text."""
        known = self._tokens[: self.writer.known]
        # A control token has no text. If it were remembered, an equal text without it would get it,
        # too.
        spelled = all(self._piece(token) or token in self._markers for token in known)
        if self._request.prompt is None and spelled:
            self._loaded.prompter.remember(self._prompt, self.writer.raw, known)
        self._cache.expect([*self._prompt.tokens, *known])

    def done(self, began: float, seed: int) -> Done:
        """Return the last event.

        Args:
            began: Start of the answer, by `time.perf_counter`.
            seed: The seed that was used.
        """
        loaded, request, prompt = self._loaded, self._request, self._prompt
        decoding, writer, speculation = self.decoding, self.writer, self._speculation
        finish: FinishReason = decoding.finish
        if request.max_tokens == 0 and finish != "cancelled":
            finish = "length"
        return Done(
            "tool" if writer.called and finish == "stop" else finish,
            Usage(
                prompt_tokens=len(prompt.tokens),
                cached_tokens=self.cached,
                completion_tokens=len(self._tokens),
                context=loaded.context.size,
                left_out=len(prompt.left),
                reasoning_tokens=writer.reasoning_pieces,
            ),
            Timing(
                load_s=loaded.report.load_s,
                ttft_s=max(0.0, decoding.first_token_at - began),
                prefill_tok_s=_rate(decoding.evaluated, decoding.prefill_s),
                decode_tok_s=_rate(decoding.decoded, decoding.decode_s),
            ),
            speculation.report() if speculation else _no_drafts(loaded, request, prompt),
            seed,
            stop=writer.stopped if writer.stopped in request.stop else "",
        )


def _nothing(loaded: Loaded, request: ChatRequest, seed: int) -> Done:
    """Return the last event of an answer that was cancelled before it had a prompt."""
    return Done(
        "cancelled",
        Usage(0, 0, 0, loaded.context.size),
        Timing(loaded.report.load_s, 0.0, 0.0, 0.0),
        _no_drafts(loaded, request),
        seed,
    )


def _sampler(
    loaded: Loaded,
    request: ChatRequest,
    prompt: Prompt,
    seed: int,
    calls: CallGuide | None,
    cancel: CancelToken,
) -> Sampler:
    """Open the sampler of this answer.

    Raises:
        GrammarInvalid: The grammar or schema cannot be used.
        Unsupported: The model cannot follow the request.
        Cancelled: `cancel` was set first.
    """
    native, model, sampling = loaded.native, loaded.model, request.sampling
    written = ""
    marker = loaded.dialect.call_token
    if calls is not None and calls.required:
        sampling = replace(sampling, grammar=None, schema=None)  # only a call is written
    elif calls is not None and sampling.guided:
        written = calls.with_answer(sampling)
        sampling = replace(sampling, grammar=None, schema=None)
    elif request.tools and request.tool_choice == "none" and marker is not None:
        token = model.vocabulary.token_of(marker)
        banned = () if token is None else ((token, -math.inf),)
        sampling = replace(sampling, logit_bias=(*sampling.logit_bias, *banned))
    begun: list[int] = []
    last = request.messages[-1] if request.prompt is None else None
    if (sampling.guided or written) and last is not None and last.role == "assistant":
        # The grammar also covers the assistant's message that is continued.
        begun = model.vocabulary.tokenise(last.text)
    sampler = open_sampler(
        native,
        model,
        sampling,
        seed,
        prior=only_text(prompt.tokens),
        begun=begun,
        later=calls is not None,
        cancel=cancel,
    )
    if written and isinstance(sampler, GuidedSampler):
        sampler.follow(model.guides.open(written, begun, cancel))
    if request.prompt is None:
        sampler = steered(loaded, request, prompt, sampler, calls)
    sampler = _endless(loaded, sampling, sampler)
    if sampling.logprobs is None:
        return sampler
    return LogprobSampler(native, model, sampler, sampling.logprobs)


def _endless(loaded: Loaded, sampling: Sampling, sampler: Sampler) -> Sampler:
    """Keep the sampler from ending the answer too early.

    Raises:
        Unsupported: A stop token is not in the vocabulary.
    """
    native, vocabulary = loaded.native, loaded.model.vocabulary
    stops = vocabulary.require_tokens(sampling.stop_tokens)
    if sampling.ignore_end:
        ends = set(vocabulary.ends).difference(stops)
        sampler = EndlessSampler(native, vocabulary.size, sampler, ends, None)
    if sampling.min_tokens:
        ends = {*vocabulary.ends, *stops}
        sampler = EndlessSampler(native, vocabulary.size, sampler, ends, sampling.min_tokens)
    return sampler


def _notes(calls: CallGuide | None) -> tuple[str, ...]:
    """Say which parts of the tools' schemas are not enforced."""
    unenforced = calls.unenforced if calls is not None else ()
    free = [name for name, path in unenforced if not path]
    notes = []
    if free:
        named = ", ".join(dict.fromkeys(free))
        notes.append(
            N_("Hearth cannot enforce the arguments of these tools: {names}.", names=named)
        )
    for name, path in unenforced:
        if path and name not in free:
            notes.append(
                N_(
                    "Hearth did not enforce this part of the schema of the tool {name}: {path}.",
                    name=name,
                    path=path,
                )
            )
    return tuple(notes)


def _can_call(request: ChatRequest) -> bool:
    return bool(request.tools) and request.tool_choice != "none" and request.prompt is None


def _call_reader(loaded: Loaded, request: ChatRequest) -> CallReader | None:
    """Create the reader of this answer's calls; None if the answer may call no tool."""
    if not _can_call(request):
        return None
    return loaded.dialect.call_reader(request.tools, f"call_{token_hex(4)}_")


def _no_drafts(loaded: Loaded, request: ChatRequest, prompt: Prompt | None = None) -> MtpReport:
    speculation = loaded.slots[0].speculation
    line = speculation.standing if speculation is not None else loaded.report.mtp_line
    if prompt is not None and prompt.media and loaded.has_model_drafter:
        line = mtp_status.AFTER_MEDIA
    reason = mtp_status.OFF if request.mtp == "off" else line
    return MtpReport(request.mtp, active=False, reason=reason, kind=loaded.report.mtp)


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0
