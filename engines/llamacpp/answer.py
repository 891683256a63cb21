"""One answer of a loaded model: the prompt, the tokens, their text, the figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from time import perf_counter

from engines.cancel import CancelToken
from engines.dialect import CallReader
from engines.errors import Cancelled
from engines.llamacpp.decoder import Decoding
from engines.llamacpp.guided import open_sampler
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.sampling import Sampler, actual_seed
from engines.llamacpp.speculative import mtp_status as truth
from engines.llamacpp.speculative.speculation import Speculation
from engines.llamacpp.steered import steered
from engines.llamacpp.writer import Delta, Writer
from engines.types import ChatRequest, Done, Event, MtpReport, PromptReady, Timing, Usage


def answer(loaded: Loaded, request: ChatRequest, cancel: CancelToken) -> Iterator[Event]:
    """The events of `Engine.chat`.

    Raises GrammarInvalid, TemplateFailed, ContextFull, MessageTooLong and EngineFailed.
    """
    began = perf_counter()
    seed = actual_seed(request.sampling)
    try:
        prompt = loaded.prompter.write(request, loaded.cache.known(request.chat), cancel)
    except Cancelled:
        yield from _nothing(loaded, request, seed)
        return
    sampler = open_sampler(
        loaded.native,
        loaded.model,
        request.sampling,
        seed,
        prior=prompt.tokens,
        begun=_begun(loaded, request),
    )
    with closing(steered(loaded, request, prompt, sampler)) as sampler:
        yield from _answer(loaded, request, cancel, prompt, sampler, seed, began)


def _answer(
    loaded: Loaded,
    request: ChatRequest,
    cancel: CancelToken,
    prompt: Prompt,
    sampler: Sampler,
    seed: int,
    began: float,
) -> Iterator[Event]:
    cached = loaded.cache.reuse(prompt.tokens, request.chat)
    speculation = _speculation(loaded, request)
    yield PromptReady(len(prompt.tokens), cached, len(prompt.left), prompt.left)
    decoding = Decoding(
        loaded.context, loaded.cache, loaded.model.vocabulary, sampler, speculation, cancel
    )
    tokens: list[int] = []
    stops = (*request.stop, *loaded.dialect.stops)
    calls = CallReader() if request.tools else None
    writer = Writer(loaded.dialect.splitter(prompt.rendered), stops, calls)
    yield from _deltas(loaded, request, prompt, decoding, speculation, writer, tokens)
    yield Done(
        "tool" if writer.called and decoding.finish == "stop" else decoding.finish,
        Usage(
            prompt_tokens=len(prompt.tokens),
            cached_tokens=cached,
            completion_tokens=len(tokens),
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


def _nothing(loaded: Loaded, request: ChatRequest, seed: int) -> Iterator[Event]:
    """The events of an answer that was cancelled before there was a prompt."""
    yield PromptReady(0, 0)
    yield Done(
        "cancelled",
        Usage(0, 0, 0, loaded.context.size),
        Timing(loaded.report.load_s, 0.0, 0.0, 0.0),
        _no_drafts(loaded, request),
        seed,
    )


def _begun(loaded: Loaded, request: ChatRequest) -> list[int]:
    """The tokens of an answer that is gone on with, for its grammar."""
    last = request.messages[-1]
    if request.sampling.grammar is None or last.role != "assistant":
        return []
    return loaded.model.vocabulary.tokenise(last.text)


def _speculation(loaded: Loaded, request: ChatRequest) -> Speculation | None:
    """What drafts for this answer, ready to begin; None if nothing shall or can."""
    if loaded.speculation is None:
        return None
    loaded.speculation.begin(request.mtp, request.depth, loaded.cache.tokens)
    return None if request.mtp == "off" else loaded.speculation


def _no_drafts(loaded: Loaded, request: ChatRequest) -> MtpReport:
    reason = truth.OFF if request.mtp == "off" else loaded.report.mtp_line
    return MtpReport(request.mtp, active=False, reason=reason, kind=loaded.report.mtp)


def _deltas(
    loaded: Loaded,
    request: ChatRequest,
    prompt: Prompt,
    decoding: Decoding,
    speculation: Speculation | None,
    writer: Writer,
    tokens: list[int],
) -> Iterator[Delta | MtpReport]:
    """The text of the answer, and news of its drafts; its tokens are added to `tokens`."""
    piece, markers = loaded.model.vocabulary.piece, loaded.markers
    drawing = decoding.tokens(prompt.tokens, request.max_tokens, stable=prompt.stable)
    try:
        with closing(drawing) as drawn:
            for token in drawn:
                tokens.append(token)
                yield from writer.feed(piece(token), markers.get(token, ""))
                if writer.stopped:
                    return
                if speculation is not None and (news := speculation.news()):
                    yield news
        yield from writer.finish(ended=decoding.finish == "stop")
    finally:
        loaded.prompter.remember(prompt, writer.raw, tokens[: writer.known])
        loaded.cache.expect([*prompt.tokens, *tokens[: writer.known]])


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0
