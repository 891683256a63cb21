"""One answer of a loaded model: the prompt, the tokens, their text, the figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from time import perf_counter
from typing import Final

from engines.cancel import CancelToken
from engines.llamacpp.decoder import Decoding
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.sampling import Sampler, actual_seed
from engines.llamacpp.writer import Delta, Writer
from engines.types import ChatRequest, Done, Event, MtpReport, PromptReady, Timing, Usage

NO_MTP: Final = (
    "This version of Hearth decodes one token at a time;"
    " multi-token prediction comes with a later one."
)


def answer(loaded: Loaded, request: ChatRequest, cancel: CancelToken) -> Iterator[Event]:
    """The events of `Engine.chat`. Raises TemplateFailed, MessageTooLong, EngineFailed."""
    began = perf_counter()
    seed = actual_seed(request.sampling)
    prompt = loaded.prompter.write(request)
    cached = loaded.cache.reuse(prompt.tokens)
    yield PromptReady(len(prompt.tokens), cached, prompt.left_out)
    sampler = Sampler(
        loaded.native, loaded.model.vocabulary.size, request.sampling, seed, prior=prompt.tokens
    )
    decoding = Decoding(loaded.context, loaded.cache, loaded.model.vocabulary, sampler, cancel)
    tokens: list[int] = []
    try:
        yield from _deltas(loaded, request, prompt, decoding, tokens)
    finally:
        sampler.close()
    yield Done(
        decoding.finish,
        Usage(
            prompt_tokens=len(prompt.tokens),
            cached_tokens=cached,
            completion_tokens=len(tokens),
            context=loaded.context.size,
            left_out=prompt.left_out,
        ),
        Timing(
            load_s=loaded.report.load_s,
            ttft_s=max(0.0, decoding.first_token_at - began),
            prefill_tok_s=_rate(decoding.evaluated, decoding.prefill_s),
            decode_tok_s=_rate(decoding.steps, decoding.decode_s),
        ),
        MtpReport(request.mtp, active=False, reason=NO_MTP),
        seed,
    )


def _deltas(
    loaded: Loaded, request: ChatRequest, prompt: Prompt, decoding: Decoding, tokens: list[int]
) -> Iterator[Delta]:
    """The text of the answer; its tokens are added to `tokens`."""
    writer = Writer(
        loaded.dialect.reasoning,
        (*request.stop, *loaded.dialect.stops),
        inside_reasoning=prompt.reasoning,
    )
    piece = loaded.model.vocabulary.piece
    try:
        with closing(decoding.tokens(prompt.tokens, request.max_tokens)) as drawn:
            for token in drawn:
                tokens.append(token)
                yield from writer.feed(piece(token))
                if writer.stopped:
                    return
        yield from writer.finish(ended=decoding.finish == "stop")
    finally:
        loaded.prompter.remember(prompt, writer.raw, tokens[: writer.known])


def _rate(count: int, seconds: float) -> float:
    return count / seconds if seconds > 0 else 0.0
