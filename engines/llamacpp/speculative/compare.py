"""Checks token by token whether a greedy answer is the same with drafts as without."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import zip_longest

from engines.cancel import CancelToken
from engines.errors import Cancelled, MtpUnavailable
from engines.llamacpp.cells import only_text
from engines.llamacpp.decoder import Decoding
from engines.llamacpp.guided import open_sampler
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.logits import Logits
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.speculative import mtp_status
from engines.llamacpp.speculative.speculation import Speculation
from engines.sentences import N_
from engines.types import ChatRequest, MtpCheck

_TOKENS = 128


def check_mtp(loaded: Loaded, request: ChatRequest, depth: int, cancel: CancelToken) -> MtpCheck:
    """Answer twice from an empty cache, and compare. See `Engine.check_mtp`.

    Raises:
        MtpUnavailable: Nothing drafts for this model or request.
        Cancelled: `cancel` was set before there was a result.
    """
    slot = loaded.slots[0]
    speculation = slot.speculation
    if speculation is None:
        raise MtpUnavailable(
            N_("There is nothing to compare."),
            loaded.report.mtp_line,
            N_("Choose another model to compare its answers."),
        )
    prompt = loaded.prompter.write(request, cancel=cancel)
    if prompt.media and loaded.has_model_drafter:
        raise MtpUnavailable(
            N_("There is nothing to compare."),
            mtp_status.AFTER_MEDIA,
            N_("Compare answers to questions without pictures and sounds."),
        )
    count = request.max_tokens or _TOKENS
    slot.cache.put_aside()
    speculation.begin("off", None, ())
    plain = write_answer(loaded, request, prompt, count, None, cancel)
    slot.cache.clear()
    speculation.begin("on", depth, ())
    drafted = write_answer(loaded, request, prompt, count, speculation, cancel)
    accepted = speculation.report().accepted
    for at, (one, other) in enumerate(zip_longest(plain, drafted)):
        if one != other:
            speculation.begin("off", None, ())
            gap = _gap(loaded, request, prompt, at, (one, other), cancel)
            return MtpCheck(False, at, depth, accepted, gap)
    return MtpCheck(True, len(plain), depth, accepted)


def write_answer(
    loaded: Loaded,
    request: ChatRequest,
    prompt: Prompt,
    count: int,
    speculation: Speculation | None,
    cancel: CancelToken,
) -> list[int]:
    """Write a greedy answer of at most `count` tokens."""
    cache = loaded.slots[0].cache
    cache.clear()
    greedy = replace(request.sampling, temperature=0.0)
    vocabulary = loaded.model.vocabulary
    prior = only_text(prompt.tokens)
    with closing(open_sampler(loaded.native, loaded.model, greedy, 0, prior)) as sampler:
        decoding = Decoding(loaded.context, cache, vocabulary, sampler, speculation, cancel)
        if (media := loaded.media_of(prompt)) is not None:
            decoding.encode_media(media, 0)
        drawn = loaded.scheduler.tokens(decoding, prompt.tokens, count)
        tokens = [token for token in drawn if isinstance(token, int)]
    if cancel.cancelled:
        raise Cancelled
    return tokens


def _gap(
    loaded: Loaded,
    request: ChatRequest,
    prompt: Prompt,
    at: int,
    pair: tuple[int | None, int | None],
    cancel: CancelToken,
) -> float:
    """Return how far apart two tokens' logits are at index `at` of the answer without drafts.

    None stands for the end of the answer: the likeliest of the tokens that end it. The result is in
    standard deviations of all logits.
    """
    write_answer(loaded, request, prompt, at + 1, None, cancel)
    vocabulary = loaded.model.vocabulary
    logits = Logits(loaded.native.api, vocabulary.size).row(loaded.context.pointer)
    ends = vocabulary.ends
    one, other = (float(logits[ends].max() if token is None else logits[token]) for token in pair)
    return abs(one - other) / float(logits.std())
