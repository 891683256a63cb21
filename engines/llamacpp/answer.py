"""Writes one answer of a loaded model: the prompt, the tokens, their text, the figures."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import replace
from secrets import token_hex
from time import perf_counter

from engines.cancel import CancelToken
from engines.dialect import CallReader
from engines.errors import Cancelled
from engines.llamacpp.decoder import Decoding
from engines.llamacpp.guided import is_guided, open_sampler
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.sampling import Sampler, actual_seed
from engines.llamacpp.speculative import mtp_status as truth
from engines.llamacpp.speculative.speculation import Speculation
from engines.llamacpp.steered import CallGuide, steered
from engines.llamacpp.writer import Writer
from engines.types import ChatRequest, Done, Event, MtpReport, PromptReady, Timing, Usage


def answer(
    lent: AbstractContextManager[Loaded], request: ChatRequest, cancel: CancelToken
) -> Generator[Event, None, None]:
    """Yield the events of `Engine.chat`, from a model that is held until the last of them.

    Raises GrammarInvalid, TemplateFailed, ContextFull, MessageTooLong and EngineFailed.
    """
    with lent as loaded:
        began, seed = perf_counter(), actual_seed(request.sampling)
        try:
            prompt = loaded.prompter.write(request, loaded.cache.known(request.chat), cancel)
        except Cancelled:
            yield PromptReady(0, 0)
            yield _nothing(loaded, request, seed)
            return
        calls = CallGuide(loaded, request, prompt) if _may_call(request) else None
        with closing(_sampler(loaded, request, prompt, seed, calls)) as sampler:
            it = _Answer(loaded, request, prompt, sampler, cancel)
            yield PromptReady(len(prompt.tokens), it.cached, len(prompt.left), prompt.left)
            try:
                with closing(it.draw()) as tokens:
                    for token in tokens:
                        yield from it.take(token)
                        if it.writer.stopped:
                            break
                if not it.writer.stopped:
                    yield from it.writer.finish(ended=it.decoding.finish == "stop")
            finally:
                it.remember()
            yield replace(it.done(began, seed), notes=_notes(calls))


class _Answer:
    """An answer being decoded: its tokens, their text and its figures.

    cached: tokens of the prompt that were in the KV cache. speculation: None if nothing drafts.
    """

    def __init__(
        self,
        loaded: Loaded,
        request: ChatRequest,
        prompt: Prompt,
        sampler: Sampler,
        cancel: CancelToken,
    ) -> None:
        self._loaded = loaded
        self._request = request
        self._prompt = prompt
        self._piece = loaded.model.vocabulary.piece
        self._tokens: list[int] = []
        self.cached = loaded.cache.reuse(prompt.tokens, request.chat)
        self._speculation = _speculation(loaded, request)
        self.decoding = Decoding(
            loaded.context,
            loaded.cache,
            loaded.model.vocabulary,
            sampler,
            self._speculation,
            cancel,
        )
        stops = (*request.stop, *loaded.dialect.stops)
        calls = _call_reader(loaded, request)
        self.writer = Writer(loaded.dialect.splitter(prompt.rendered, calls), stops, calls)

    def draw(self) -> Generator[int, None, None]:
        """Yield the tokens, each as it is drawn."""
        prompt = self._prompt
        return self.decoding.tokens(prompt.tokens, self._request.max_tokens, stable=prompt.stable)

    def take(self, token: int) -> Sequence[Event]:
        """Take the next token; returns what it adds to the text, and news of the drafts."""
        self._tokens.append(token)
        deltas = self.writer.feed(self._piece(token), self._loaded.markers.get(token, ""))
        if self._speculation is None or self.writer.stopped:
            return deltas
        news = self._speculation.news()
        return [*deltas, news] if news else deltas

    def remember(self) -> None:
        """Note the answer's tokens, for when the next prompt of the chat holds its text."""
        known = self._tokens[: self.writer.known]
        self._loaded.prompter.remember(self._prompt, self.writer.raw, known)
        self._loaded.cache.expect([*self._prompt.tokens, *known])

    def done(self, began: float, seed: int) -> Done:
        """Return the last event. began: by `time.perf_counter`."""
        loaded, request, prompt = self._loaded, self._request, self._prompt
        decoding, writer, speculation = self.decoding, self.writer, self._speculation
        return Done(
            "tool" if writer.called and decoding.finish == "stop" else decoding.finish,
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
            speculation.report() if speculation else _no_drafts(loaded, request),
            seed,
        )


def _nothing(loaded: Loaded, request: ChatRequest, seed: int) -> Done:
    """Return the end of an answer that was cancelled before there was a prompt."""
    return Done(
        "cancelled",
        Usage(0, 0, 0, loaded.context.size),
        Timing(loaded.report.load_s, 0.0, 0.0, 0.0),
        _no_drafts(loaded, request),
        seed,
    )


def _sampler(
    loaded: Loaded, request: ChatRequest, prompt: Prompt, seed: int, calls: CallGuide | None
) -> Sampler:
    """Open the sampler of this answer. Raises GrammarInvalid."""
    sampling, vocabulary = request.sampling, loaded.model.vocabulary
    if calls is not None and calls.required:
        sampling = replace(sampling, grammar=None, schema=None)  # it is a call and no answer
    elif calls is not None and is_guided(sampling):
        sampling = replace(sampling, grammar=calls.beside(sampling), schema=None)
    elif request.tool_choice == "none" and (marker := loaded.dialect.call_token):
        bias = (vocabulary.token_of(marker) or 0, -math.inf)
        sampling = replace(sampling, logit_bias=(*sampling.logit_bias, bias))
    begun: list[int] = []
    last = request.messages[-1]
    if is_guided(sampling) and last.role == "assistant":
        # The grammar also holds for what is gone on with.
        begun = vocabulary.tokenise(last.text)
    sampler = open_sampler(
        loaded.native,
        loaded.model,
        sampling,
        seed,
        prior=prompt.tokens,
        begun=begun,
        later=calls is not None,
    )
    return steered(loaded, request, prompt, sampler, calls)


def _notes(calls: CallGuide | None) -> tuple[str, ...]:
    free = ", ".join(calls.free) if calls is not None else ""
    return (f"No grammar can say what arguments these tools take: {free}.",) if free else ()


def _may_call(request: ChatRequest) -> bool:
    return bool(request.tools) and request.tool_choice != "none"


def _call_reader(loaded: Loaded, request: ChatRequest) -> CallReader | None:
    """Make the reader of this answer's calls; None where it may ask for no tool."""
    if not _may_call(request):
        return None
    return loaded.dialect.call_reader(request.tools, f"call_{token_hex(4)}_")


def _speculation(loaded: Loaded, request: ChatRequest) -> Speculation | None:
    """Begin the drafting of this answer; None if nothing shall or can draft."""
    if request.mtp != "off":
        loaded.choose(request.mtp)
    if loaded.speculation is None:
        return None
    loaded.speculation.begin(request.mtp, request.depth, loaded.cache.tokens)
    return loaded.speculation if loaded.speculation.drafts(request.mtp) else None


def _no_drafts(loaded: Loaded, request: ChatRequest) -> MtpReport:
    able = loaded.speculation
    line = able.standing if able is not None else loaded.report.mtp_line
    reason = truth.OFF if request.mtp == "off" else line
    return MtpReport(request.mtp, active=False, reason=reason, kind=loaded.report.mtp)


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0
