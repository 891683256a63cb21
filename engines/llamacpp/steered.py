"""A sampler that enforces the course of an answer: reasoning and its budget, grammar, calls.

Forced tokens are drawn like any others, one after the other in the order of the text. So a draft
counts only if it is the same token, and the KV cache, the penalties and the text of the answer are
the same as if the model had written it.

Once a model begins to call a tool, a call must follow: to one of the offered tools, with arguments
that follow its schema. Until then, the grammar of calls does not apply. Some models begin without a
marker: then it is a call once it names a tool and begins its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final

from engines.cancel import CancelToken
from engines.dialect import CallReader
from engines.dialect.forced_tokens import ForcedTokens
from engines.dialect.formats import CallFormat
from engines.dialect.splitter import Delta
from engines.errors import GrammarInvalid
from engines.llamacpp.calling import (
    CallGrammar,
    Weaken,
    arguments_grammar,
    call_grammar,
    write_calls,
)
from engines.llamacpp.constraints import write_answer
from engines.llamacpp.context import Context
from engines.llamacpp.guided import GuidedSampler
from engines.llamacpp.json_schema import PreparedSchema
from engines.llamacpp.lark import Lark, literal
from engines.llamacpp.loaded import Loaded
from engines.llamacpp.prompting import Prompt
from engines.llamacpp.sampling import Sampler
from engines.llamacpp.writer import seamed
from engines.text import SEAM, Utf8Decoder, held_back
from engines.types import ChatRequest, Sampling, TextDelta, Tool, ToolCallDelta

_PYTHON_CALL: Final = re.compile(r"\s*\[?\s*([\w.]+)\(")
"""The beginning of an answer that is a call in Python syntax."""


class CallGuide:
    """Finds where an answer begins to call tools, and the grammar that applies from there on.

    All grammars are compiled when it is created, since it works between the steps of the scheduler.

    Attributes:
        required: Whether the answer must call a tool.
        unenforced: The parts of the tools' schemas that are not enforced, see `CallGrammar`.
        opening: The tokens that must begin the answer; None if it need not call a tool.

    Raises:
        GrammarInvalid: No grammar can be written, although one must apply.
        Cancelled: The answer was cancelled meanwhile.
    """

    def __init__(
        self, loaded: Loaded, request: ChatRequest, prompt: Prompt, cancel: CancelToken
    ) -> None:
        self._loaded = loaded
        self._guides = loaded.model.guides
        self._cancel = cancel
        dialect = loaded.dialect
        self.required = request.tool_choice == "required"
        tools = [tool for tool in request.tools if request.only_tool in ("", tool.name)]
        self._tools = {tool.name: tool for tool in tools}
        self._parallel = request.parallel_tools
        form = dialect.calls
        self._channels = form.style == "channel"
        must_follow = self.required or request.sampling.guided
        self._form = replace(form, ends="") if form.bare and must_follow else form
        self._grammar = CallGrammar("", tuple((tool.name, "") for tool in tools))
        self._arguments: dict[str, CallGrammar] = {}
        self._bare: BareCalls | None = None
        try:
            self._grammar = self._strictest(self._calls)
            if self._channels and not must_follow:
                for tool in tools:
                    grammar = self._strictest(partial(arguments_grammar, tool))
                    self._arguments[tool.name] = grammar
            if form.bare and not must_follow:
                grammar = self._strictest(partial(self._calls, form=replace(form, ends="")))
                self._bare = BareCalls(form, tools, grammar)
        except GrammarInvalid:
            if must_follow:
                raise
        self._begins = dialect.call_begins
        self._text = ""
        self.reader = CallReader((form,)) if self._channels else None
        self._found = False
        self._begin = self._beginning(form, prompt)
        tokenise = loaded.model.vocabulary.tokenise
        self.opening = tokenise(self._begin) if self.required else None

    @property
    def unenforced(self) -> tuple[tuple[str, str], ...]:
        """The parts of the tools' schemas that are not enforced."""
        return self._grammar.unenforced

    def with_answer(self, sampling: Sampling) -> str:
        """Return the grammar of the requested answer or of calls in its place."""
        begin = self._begin.lstrip()

        def write(*, weaken: Weaken | None, free: bool) -> CallGrammar:
            lark = Lark()
            answer = write_answer(sampling, self._guides, lark, self._cancel)
            calls, unenforced = write_calls(
                lark,
                self._form,
                [*self._tools.values()],
                parallel=self._parallel,
                weaken=weaken,
                free=free,
            )
            return CallGrammar(lark.text(f"{answer} | {literal(begin)} {calls}"), unenforced)

        return self._strictest(write).text

    def _calls(
        self, *, weaken: Weaken | None, free: bool, form: CallFormat | None = None
    ) -> CallGrammar:
        return call_grammar(
            form or self._form,
            [*self._tools.values()],
            parallel=self._parallel,
            weaken=weaken,
            free=free,
        )

    def _strictest(self, write: Callable[..., CallGrammar]) -> CallGrammar:
        """Compile a grammar that enforces as much of the tools' schemas as possible.

        Raises:
            GrammarInvalid: Not even the names can be enforced.
            Cancelled: The answer was cancelled meanwhile.
        """

        def weaken(prepared: PreparedSchema) -> PreparedSchema:
            return self._guides.enforceable(prepared, self._cancel, strict=False)

        for attempt in ((None, False), (weaken, False)):
            with suppress(GrammarInvalid):
                grammar = write(weaken=attempt[0], free=attempt[1])
                self._guides.compiled(grammar.text, self._cancel)
                return grammar
        grammar = write(weaken=None, free=True)
        self._guides.compiled(grammar.text, self._cancel)
        return grammar

    def _beginning(self, form: CallFormat, prompt: Prompt) -> str:
        """Return the text that begins calls, after the reasoning if there is any."""
        rendered = prompt.rendered
        reasons = rendered.begins == "reasoning" or rendered.expected
        if self._channels:
            start = "<|start|>assistant" if reasons else ""
            return f"{start}<|channel|>commentary to=functions."
        written = self._loaded.dialect.format
        gap = written.gap if written is not None and reasons else ""
        return gap + ("" if form.bare else form.begins[0])

    def feed(self, deltas: Sequence[Delta], *, opened: bool) -> tuple[CallGrammar, str] | None:
        """Take the next part of an answer.

        Args:
            deltas: The next part.
            opened: Whether the required beginning of the answer is written.

        Returns:
            The grammar that applies from here, and the text under it that is already written; None
            if no grammar applies yet.
        """
        if self._found or not self._grammar.text:
            return None
        if self.required:
            self._found = opened
            return (self._grammar, "") if opened else None
        for delta in deltas:
            if isinstance(delta, ToolCallDelta) and delta.name in self._arguments:
                self._found = True
                return self._arguments[delta.name], ""
            if isinstance(delta, TextDelta):
                self._text += delta.text
                if self._bare is not None and (bare := self._bare.feed(delta.text)):
                    self._found = True
                    return bare
        for marker in self._begins:
            _, found, rest = self._text.partition(marker)
            if found:
                self._found = True
                return self._grammar, rest.replace(SEAM, "")
        count = held_back(self._text, self._begins)
        self._text = self._text[len(self._text) - count :]
        return None


class BareCalls:
    """Finds where an answer proves to be a call that began without a marker.

    An answer that begins with a bracket can be anything: requested data, a quotation. So no grammar
    applies until the answer names an offered tool and begins its arguments. From there on it is
    read as a call, whatever follows.
    """

    def __init__(self, form: CallFormat, tools: Sequence[Tool], grammar: CallGrammar) -> None:
        self._grammar = grammar
        self._reader = CallReader((replace(form, begins=()),), tools)
        self._python = form.style == "python"
        self._names = {tool.name for tool in tools}
        self._text = ""
        self._over = False

    def feed(self, text: str) -> tuple[CallGrammar, str] | None:
        """Take the next part of an answer.

        Returns:
            The grammar of calls, and the whole text so far, once the answer is a call; otherwise
            None.
        """
        if self._over:
            return None
        self._text += text
        deltas = self._reader.feed(text)
        named = _PYTHON_CALL.match(self._text) if self._python else None
        if any(isinstance(delta, ToolCallDelta) for delta in deltas) or (
            named is not None and named[1] in self._names
        ):
            self._over = True
            return self._grammar, self._text.lstrip()
        self._over = bool(deltas)  # the answer is text
        return None


def steered(
    loaded: Loaded,
    request: ChatRequest,
    prompt: Prompt,
    sampler: Sampler,
    calls: CallGuide | None = None,
) -> Sampler:
    """Return the sampler, steered if there is anything to steer.

    Args:
        loaded: The model.
        request: The request.
        prompt: The request's prompt.
        sampler: The sampler to steer.
        calls: The guide for calls, if the answer may call tools.
    """
    dialect = loaded.dialect
    guided = request.sampling.guided
    budget = request.thinking_budget if dialect.format is not None else None
    if calls is None and (dialect.format is None or (budget is None and not guided)):
        return sampler
    rendered, tokenise = prompt.rendered, loaded.model.vocabulary.tokenise
    # If a grammar follows, the model cannot choose whether to reason first.
    guided = guided or (calls is not None and calls.required)
    begins = guided and rendered.begins == "start" and rendered.expected
    form = dialect.format
    first = tokenise(form.opens[0]) if form is not None and begins and _announces(loaded) else []
    forced_tokens = ForcedTokens(
        dialect.splitter(rendered, calls.reader if calls is not None else None),
        first=first,
        closing=tokenise(_closing(loaded, calls)),
        budget=budget,
        opening=calls.opening if calls is not None else None,
    )
    return Steered(sampler, forced_tokens, loaded, calls)


def _closing(loaded: Loaded, calls: CallGuide | None) -> str:
    """Return the text that ends the reasoning; if a call must follow, only the marker itself."""
    form = loaded.dialect.format
    if form is None:
        return ""
    if calls is not None and calls.required:
        return "<|end|>" if form.channels else form.closes[0]
    return form.end


def _announces(loaded: Loaded) -> bool:
    """Return whether the model certainly reasons when asked to.

    It does if its template has a switch, or its format has channels.
    """
    form = loaded.dialect.format
    return loaded.dialect.switch.kind == "switch" or (form is not None and form.channels)


class Steered:
    """A sampler that forces tokens where the answer's course requires it.

    It owns the sampler that it steers.
    """

    def __init__(
        self,
        sampler: Sampler,
        forced_tokens: ForcedTokens,
        loaded: Loaded,
        calls: CallGuide | None = None,
    ) -> None:
        self._sampler = sampler
        self._forced_tokens = forced_tokens
        self._loaded = loaded
        self._calls = calls
        self._calling = False
        self._characters = Utf8Decoder()
        self._piece = loaded.model.vocabulary.piece
        self._markers = loaded.markers
        self._follow(())
        sampler.guide(on=forced_tokens.answering)

    def draw(self, context: Context, row: int = -1) -> int:
        """Return the forced token if there is one, or else draw the next token."""
        token = self._forced_tokens.forced
        if token is None:
            token = self._sampler.draw(context, row)
        else:
            self._sampler.take(token)
        marker = self._markers.get(token, "")
        text = "" if marker else self._characters.feed(self._piece(token))
        self._follow(self._forced_tokens.feed(seamed(text + marker, marker)))
        self._sampler.guide(on=self._calling or self._forced_tokens.answering)
        return token

    def _follow(self, deltas: Sequence[Delta]) -> None:
        """Follow the grammar of calls from where they begin."""
        if self._calls is None or not isinstance(self._sampler, GuidedSampler):
            return
        model = self._loaded.model
        try:
            found = self._calls.feed(deltas, opened=self._forced_tokens.opened)
            if found is None:
                return
            grammar, begun = found
            tokens = model.vocabulary.tokenise(begun)
            guide = model.guides.open(grammar.text, tokens)
        except GrammarInvalid:
            if self._calls.required:
                raise
            return  # the call has begun in another form, which is still read
        self._sampler.follow(guide)
        self._calling = True

    def take(self, token: int) -> None:
        """Pass a forced token on to the sampler."""
        self._sampler.take(token)

    def guide(self, *, on: bool) -> None:
        """Turn the grammar on or off for the next tokens."""
        self._sampler.guide(on=on)

    def close(self) -> None:
        """Close the sampler that is steered."""
        self._sampler.close()
