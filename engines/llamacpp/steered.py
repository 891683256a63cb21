"""A sampler that keeps an answer on its course: budget and beginning of the reasoning, grammar.

Forced tokens are drawn like any others, one after the other in the order of the text. So a draft
counts only if it is the very token, and the KV cache, the penalties and the text of the answer are
what they would be had the model written it.
"""

from __future__ import annotations

from engines.dialect.course import Course
from engines.llamacpp.context import Context
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.sampling import Sampler
from engines.llamacpp.writer import seamed
from engines.text import Utf8Decoder
from engines.types import ChatRequest


def steered(loaded: Loaded, request: ChatRequest, prompt: Prompt, sampler: Sampler) -> Sampler:
    """Return the sampler, steered if there is anything to steer."""
    dialect = loaded.dialect
    guided = request.sampling.guided
    if dialect.format is None or (request.thinking_budget is None and not guided):
        return sampler
    rendered, tokenise = prompt.rendered, loaded.model.vocabulary.tokenise
    # Before a grammar the model cannot be left to begin its reasoning or not.
    begins = guided and rendered.begins == "start" and rendered.expected
    first = tokenise(dialect.format.opens[0]) if begins and _announces(loaded) else []
    course = Course(
        dialect.splitter(rendered),
        first=first,
        closing=tokenise(dialect.format.end),
        budget=request.thinking_budget,
    )
    return Steered(sampler, course, loaded)


def _announces(loaded: Loaded) -> bool:
    """Whether the model surely reasons when asked to: its template has a switch, or channels."""
    form = loaded.dialect.format
    return loaded.dialect.switch.kind == "switch" or (form is not None and form.channels)


class Steered:
    """A sampler that forces tokens where the answer's course demands it; owns the one it steers."""

    def __init__(self, sampler: Sampler, course: Course, loaded: Loaded) -> None:
        self._sampler = sampler
        self._course = course
        self._characters = Utf8Decoder()
        self._piece = loaded.model.vocabulary.piece
        self._markers = loaded.markers
        sampler.guide(on=course.answering)

    def draw(self, context: Context, row: int = -1) -> int:
        token = self._course.forced
        if token is None:
            token = self._sampler.draw(context, row)
        else:
            self._sampler.take(token)
        marker = self._markers.get(token, "")
        text = "" if marker else self._characters.feed(self._piece(token))
        self._course.saw(seamed(text + marker, marker))
        self._sampler.guide(on=self._course.answering)
        return token

    def take(self, token: int) -> None:
        self._sampler.take(token)

    def guide(self, *, on: bool) -> None:
        self._sampler.guide(on=on)

    def close(self) -> None:
        self._sampler.close()
