"""Turns a conversation into the tokens of a prompt that fits the context."""

from __future__ import annotations

import re
import threading
from array import array
from collections import OrderedDict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Final

from engines import conversation
from engines.cancel import CancelToken
from engines.dialect import Dialect, RenderedPrompt
from engines.dialect.template import template_failed
from engines.errors import TemplateFailed, Unsupported
from engines.llamacpp.cells import is_cell
from engines.llamacpp.projector import Projector, media_unsupported
from engines.llamacpp.prompt_media import PlacedMedium
from engines.llamacpp.resume.spelling import spelled
from engines.llamacpp.vocabulary import Vocabulary
from engines.overflow import full, prompt_too_long, too_long
from engines.sentences import N_
from engines.types import ChatRequest, Measured, Medium, Message

_MOST_COUNTS = 20_000
_FAR: Final = 8
"""Characters per token of the context; a longer text hardly fits, as tokens have about four."""
_LONG: Final = 250_000
"""Number of characters that are tokenised in a moment, whether they fit or not."""

_ANSWERS: Final = 16
"""Number of answers whose tokens are remembered, the most recent ones."""
TURNS: Final = 8_000_000
"""Number of characters of turns whose tokens are remembered, the most recently used."""


class TurnTokens:
    """Tokenises prompts turn by turn, and remembers turns, as a chat sends all of them again.

    A turn is the text between two occurrences of the prompt's most frequent control token, where
    the tokeniser starts afresh. Any thread can use it.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._marker = ""
        self._lock = threading.Lock()
        self._turns: OrderedDict[str, array[int]] = OrderedDict()
        self._remembered_chars = 0

    def of(self, text: str) -> list[int]:
        """Return the tokens of a prompt, or of a part of one."""
        self._marker = self._marker or self._vocabulary.turn_marker(text)
        if not self._marker:
            return self._vocabulary.tokenise(text)
        first, *turns = text.split(self._marker)
        tokens = self._vocabulary.tokenise(first)
        for turn in turns:
            tokens += self._turn(self._marker + turn)
        return tokens

    def _turn(self, text: str) -> array[int]:
        with self._lock:
            if text in self._turns:
                self._turns.move_to_end(text)
                return self._turns[text]
        tokens = array("i", self._vocabulary.tokenise(text))
        with self._lock:
            if text not in self._turns:
                self._turns[text] = tokens
                self._remembered_chars += len(text)
            while self._remembered_chars > TURNS:
                oldest, _ = self._turns.popitem(last=False)
                self._remembered_chars -= len(oldest)
        return tokens


@dataclass(frozen=True)
class Prompt:
    """A prompt as the model receives it.

    Attributes:
        rendered: The text, rendered by the chat template.
        tokens: The tokens that the model receives.
        left: The indexes of the messages that did not fit.
        stable: Number of tokens that the next turn's prompt will begin with, too, whatever happens
            to the reasoning.
        media: The pictures and sounds among the tokens.
        fewest: For a prompt that is certainly too long and so was not tokenised, the least number
            of tokens that it would have; otherwise 0.
    """

    rendered: RenderedPrompt
    tokens: list[int]
    left: tuple[int, ...]
    stable: int
    media: tuple[PlacedMedium, ...] = ()
    fewest: int = 0

    @property
    def text(self) -> str:
        """The rendered text of the prompt."""
        return self.rendered.text

    @property
    def length(self) -> int:
        """The number of tokens, or the least number if they were not counted."""
        return self.fewest or len(self.tokens)


class Prompter:
    """Writes prompts for one model and a context of `size` tokens. Any thread can use it.

    Args:
        dialect: The model's chat template and format of calls.
        vocabulary: The model's vocabulary.
        size: Number of tokens in the context.
        projector: Lays out the media of messages; None if the model takes none.
    """

    def __init__(
        self,
        dialect: Dialect,
        vocabulary: Vocabulary,
        size: int,
        projector: Projector | None = None,
    ) -> None:
        self._dialect = dialect
        self._vocabulary = vocabulary
        self._size = size
        self._projector = projector
        # A medium's placeholder while a template is rendered; the user cannot guess it in a
        # message.
        self._nonce = token_hex(8)
        self._marked = re.compile(f"<media {self._nonce} ([0-9a-fA-F]+)>")
        self._turns = TurnTokens(vocabulary)
        self._known: deque[tuple[str, list[int]]] = deque(maxlen=_ANSWERS)
        self._counts: dict[int, int] = {}

    def write(
        self,
        request: ChatRequest,
        cached: Sequence[Sequence[int]] = (),
        cancel: CancelToken | None = None,
    ) -> Prompt:
        """Render the conversation, without its oldest turns if necessary and allowed.

        Args:
            request: The request to write the prompt for.
            cached: The tokens of sequences in the KV cache. Text that they spell gets their tokens.
            cancel: Ends the work.

        Raises:
            TemplateFailed: The chat template fails.
            ContextFull: The conversation does not fit, and the request allows no cuts.
            MessageTooLong: The conversation does not fit even without its oldest turns.
            Unsupported: The model cannot do what the request asks for.
            MediaUnsupported: The model does not take the request's pictures or sounds.
            MediumUnreadable: A picture or a sound cannot be read.
            Cancelled: `cancel` was set.
        """
        messages = request.messages
        if request.prompt is not None:
            return self._continued(request.prompt, request.suffix)
        if not messages:
            raise ValueError("there is no message to answer")
        answer_room = conversation.answer_room(self._size, request.max_tokens)
        whole = self._render(request, (), cached, cancel)
        if whole.length <= self._size - answer_room:
            return whole
        if request.overflow == "stop":
            raise full(whole.length, answer_room, self._size, counted=not whole.fewest)
        prompt = self._fitting(request, whole, answer_room, cached, cancel)
        if prompt.length < self._size:
            return prompt
        pinned = conversation.pinned(messages)
        pinned_tokens = sum(self._count(messages[at]) for at in pinned)
        raise too_long(prompt.length, pinned_tokens, self._size, counted=not prompt.fewest)

    def measure(self, request: ChatRequest, cancel: CancelToken) -> Measured:
        """Count the tokens that `write` would produce; also allowed while an answer is written.

        For a conversation that is certainly too long, the numbers are lower bounds.
        """
        answer_room = conversation.answer_room(self._size, request.max_tokens)
        if request.prompt is not None:
            text_and_suffix = request.prompt, request.suffix
            count = self._too_long(*text_and_suffix) or len(self._tokens_of(*text_and_suffix))
            return Measured((), count, answer_room, self._size, (), count)
        whole = prompt = self._render(request, (), (), cancel)
        if whole.length > self._size - answer_room:
            prompt = self._fitting(request, whole, answer_room, (), cancel)
        lengths = tuple(self._lengths(request.messages, whole.length))
        return Measured(
            lengths=lengths,
            total=max(whole.fewest, sum(lengths)) if whole.fewest else whole.length,
            kept=answer_room,
            context=self._size,
            left=prompt.left,
            prompt=prompt.length,
        )

    def remember(self, prompt: Prompt, answer: str, tokens: Sequence[int]) -> None:
        """Note the tokens of an answer, for the prompt of the next turn.

        A model can spell a text with other tokens than the tokeniser does. With the model's own
        tokens, the next prompt begins with exactly the tokens in the KV cache.
        """
        self._known.appendleft((prompt.text + answer, [*prompt.tokens, *tokens]))

    def _continued(self, prompt: str | tuple[int, ...], suffix: str) -> Prompt:
        """Return the prompt for a text or tokens that the model continues unchanged.

        Raises:
            MessageTooLong: The prompt does not fit in the context.
            Unsupported: The model cannot continue it.
        """
        if fewest := self._too_long(prompt, suffix):
            raise prompt_too_long(fewest, self._size, counted=False)
        tokens = self._tokens_of(prompt, suffix)
        if len(tokens) >= self._size:
            raise prompt_too_long(len(tokens), self._size)
        rendered = RenderedPrompt(prompt if isinstance(prompt, str) else "", begins="answer")
        return Prompt(rendered, tokens, (), len(tokens))

    def _tokens_of(self, prompt: str | tuple[int, ...], suffix: str) -> list[int]:
        vocabulary = self._vocabulary
        if suffix and isinstance(prompt, str):
            filling = vocabulary.with_gap(prompt, suffix)
            if filling is None:
                raise Unsupported(
                    N_("This model cannot fill a gap in a text."),
                    N_("Its vocabulary has no tokens that mark a gap."),
                    N_("Send no text after the gap, or choose a model for code that fills gaps."),
                )
            tokens = filling
        elif isinstance(prompt, str):
            tokens = vocabulary.whole_text(prompt)
        else:
            tokens = vocabulary.require_tokens(prompt)
        if not tokens:
            raise Unsupported(
                N_("There is nothing to continue."),
                N_("The prompt is empty, and this model has no token that begins a text."),
                N_("Send a prompt with some text."),
            )
        return tokens

    def _fitting(
        self,
        request: ChatRequest,
        whole: Prompt,
        answer_room: int,
        cached: Sequence[Sequence[int]],
        cancel: CancelToken | None,
    ) -> Prompt:
        """Return the prompt without the turns that must leave; too long if no more may leave."""
        room, prompt = self._size - answer_room, whole
        lengths = self._lengths(request.messages, whole.length)
        for left in conversation.cuts(request.messages, lengths, room, self._size):
            prompt = self._render(request, left, cached, cancel)
            if prompt.length <= room:
                break
        return prompt

    def _render(
        self,
        request: ChatRequest,
        left: tuple[int, ...],
        cached: Sequence[Sequence[int]],
        cancel: CancelToken | None,
    ) -> Prompt:
        remaining = conversation.without(request.messages, left)
        media = self._expanded(remaining)
        messages = [self._with_markers(message) for message in remaining]
        tools = request.tools
        if request.tool_choice == "none" and self._dialect.call_token is None:
            tools = ()  # only a call that begins with a control token can be prevented
        rendered = self._dialect.render(messages, request.thinking, request.effort, tools, cancel)
        words = self._marked.sub("", rendered.text) if media else rendered.text
        if fewest := self._too_long(words):
            return Prompt(rendered, [], left, 0, fewest=fewest)
        tokens = self._tokens(rendered.text, cached, media)
        if not tokens:
            # llama.cpp ends the process if it must continue an empty prompt.
            raise TemplateFailed(
                N_("There is nothing to answer."),
                N_("The model's chat template makes an empty prompt of this conversation."),
                N_("Write a message, or choose another model."),
            )
        placed = self._placed(rendered.text, tokens, remaining, media)
        return Prompt(rendered, tokens, left, self._stable(rendered, tokens), placed)

    def _expanded(self, messages: Sequence[Message]) -> dict[str, list[int]]:
        """Return the tokens of all media, by their hashes."""
        return {
            medium.sha256: self._medium_tokens(medium)
            for message in messages
            for medium in message.media
        }

    def _medium_tokens(self, medium: Medium) -> list[int]:
        if self._projector is None:
            raise media_unsupported(medium.kind)
        return self._projector.tokens(medium)

    def _with_markers(self, message: Message) -> Message:
        """Put a marker into the text for each medium, as chat templates receive only text.

        Templates of families with vision have their own markup for a picture, but libmtmd writes it
        here.
        """
        text = message.text
        for medium in reversed(message.media):
            marker = f"<media {self._nonce} {medium.sha256}>"
            text = text[: medium.at] + marker + text[medium.at :]
        return replace(message, text=text, media=())

    def _placed(
        self,
        text: str,
        tokens: Sequence[int],
        messages: Sequence[Message],
        media: Mapping[str, Sequence[int]],
    ) -> tuple[PlacedMedium, ...]:
        """Find where the media of a rendered conversation begin among its tokens."""
        by_hash = {medium.sha256: medium for message in messages for medium in message.media}
        placed: list[PlacedMedium] = []
        at = 0
        for digest in self._marked.findall(text):
            medium_tokens = media[digest]
            first = next(place for place, token in enumerate(medium_tokens) if is_cell(token))
            at = tokens.index(medium_tokens[first], at) - first
            placed.append(PlacedMedium(by_hash[digest], at))
            at += len(medium_tokens)
        if by_hash.keys() - {one.medium.sha256 for one in placed}:
            raise template_failed(
                N_("The model's chat template cannot be used with pictures or sounds."),
                N_("It leaves them out of the prompt."),
            )
        return tuple(placed)

    def _too_long(self, prompt: str | tuple[int, ...], suffix: str = "") -> int:
        """Return the least number of tokens of a text that is too long; 0 if it might fit.

        Tokenising a million words takes seconds, and they would be refused anyway.
        """
        text = prompt + suffix if isinstance(prompt, str) else ""
        if len(text) < max(_LONG, _FAR * self._size):
            return 0
        fewest = self._vocabulary.fewest(text)
        return fewest if fewest > self._size else 0

    def _stable(self, rendered: RenderedPrompt, tokens: Sequence[int]) -> int:
        if not rendered.dropped_later:
            return len(tokens)
        end = rendered.text[-rendered.dropped_later :]
        # If the text does not begin with a marker, a token can reach across its beginning.
        over = 0 if self._dialect.begins_with_marker(end) else 1
        return max(0, len(tokens) - len(self._vocabulary.tokenise(end)) - over)

    def _tokens(
        self, text: str, cached: Sequence[Sequence[int]], media: Mapping[str, Sequence[int]]
    ) -> list[int]:
        for known_text, known_tokens in tuple(self._known):
            rest = text.removeprefix(known_text)
            # An answer is followed by the end of its turn: a marker, which no token can straddle.
            if text.startswith(known_text) and self._dialect.begins_with_marker(rest):
                return known_tokens + self._tokenised(rest, media)
        begins = self._dialect.begins_with_marker
        marks = [(found.span(), media[found[1]]) for found in self._marked.finditer(text)]
        at, spelt = 0, list[int]()
        for sequence in cached:
            count, end = spelled(text, sequence, self._vocabulary, begins, marks)
            if end > at:
                at, spelt = end, list(sequence[:count])
        if at:
            return spelt + self._tokenised(text[at:], media)
        return self._tokenised(text, media, whole=True)

    def _tokenised(
        self, text: str, media: Mapping[str, Sequence[int]], *, whole: bool = False
    ) -> list[int]:
        """Tokenise a text with media.

        Args:
            text: The text, with placeholders for media.
            media: The tokens of the media, by their hashes.
            whole: Whether the text is the beginning of the model's input.
        """
        first, *rest = self._marked.split(text)
        tokens = self._turns.of(first)
        if whole:
            tokens = self._vocabulary.begun(tokens)
        for digest, between in zip(rest[::2], rest[1::2], strict=True):
            tokens += media[digest]
            tokens += self._turns.of(between)
        return tokens

    def _lengths(self, messages: Sequence[Message], total: int) -> list[int]:
        """Return each message's number of tokens, with an even share of the template's tokens."""
        texts = [self._count(message) for message in messages]
        markup = max(0, total - sum(texts)) // len(messages)
        return [text + markup for text in texts]

    def _count(self, message: Message) -> int:
        """Return a message's number of tokens, counted once, as a chat is measured repeatedly.

        A message that is too long by itself counts with its least number.
        """
        text = message.text + "".join(call.name + call.arguments for call in message.calls)
        key = hash(text)
        if key not in self._counts:
            if len(self._counts) >= _MOST_COUNTS:
                self._counts.clear()
            counted = self._too_long(text) or len(self._vocabulary.tokenise(text))
            self._counts[key] = counted
        return self._counts[key] + sum(len(self._medium_tokens(medium)) for medium in message.media)
