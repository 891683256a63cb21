"""From a conversation to the tokens of a prompt that fits the context."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engines.dialect import Dialect
from engines.errors import MessageTooLong, TemplateFailed
from engines.llamacpp import conversation
from engines.llamacpp.resume.spelling import spelled
from engines.llamacpp.vocabulary import Vocabulary
from engines.types import ChatRequest, Message


@dataclass(frozen=True)
class Prompt:
    """text: as rendered. tokens: what the model gets. left_out: messages that did not fit.

    reasoning: the answer begins inside the model's reasoning.
    """

    text: str
    tokens: list[int]
    left_out: int
    reasoning: bool


class Prompter:
    """Writes prompts for one model and a context of `size` tokens."""

    def __init__(self, dialect: Dialect, vocabulary: Vocabulary, size: int) -> None:
        self._dialect = dialect
        self._vocabulary = vocabulary
        self._size = size
        self._known: tuple[str, list[int]] = ("", [])
        self._held: Sequence[Sequence[int]] = ()

    def write(self, request: ChatRequest, held: Sequence[Sequence[int]] = ()) -> Prompt:
        """Render the conversation; if need be without its oldest turns.

        held: conversations whose KV cache is at hand. What they spell gets their tokens.
        Raises TemplateFailed, MessageTooLong.
        """
        self._held = held
        messages = request.messages
        if not messages:
            raise ValueError("there is no message to answer")
        prompt = self._render(messages, 0)
        room = self._size - conversation.answer_room(self._size, request.max_tokens)
        if len(prompt.tokens) <= room:
            return prompt
        old = conversation.removable(messages)
        lengths = self._lengths(messages, len(prompt.tokens))
        for count in conversation.cuts(messages, lengths, room, self._size):
            kept = (*messages[: old.start], *messages[old.start + count :])
            prompt = self._render(kept, count)
            if len(prompt.tokens) <= room:
                return prompt
        if len(prompt.tokens) < self._size:
            return prompt
        raise MessageTooLong(
            "This message is too long for the model.",
            f"With the system prompt it takes {len(prompt.tokens)} tokens, and the context has"
            f" {self._size}.",
            "Shorten it, or load the model with a larger context.",
        )

    def remember(self, prompt: Prompt, answer: str, tokens: Sequence[int]) -> None:
        """Know the tokens of an answer, for the prompt of the next turn.

        A model may spell a text in other tokens than the tokeniser does. With its own, the next
        prompt begins with exactly what the KV cache holds.
        """
        self._known = (prompt.text + answer, [*prompt.tokens, *tokens])

    def _render(self, messages: Sequence[Message], left_out: int) -> Prompt:
        rendered = self._dialect.render(messages)
        tokens = self._tokens(rendered.text)
        if not tokens:
            # llama.cpp ends the process when it is asked to go on from nothing.
            raise TemplateFailed(
                "There is nothing to answer.",
                "The model's chat template makes an empty prompt of this conversation.",
                "Write a message, or choose another model.",
            )
        return Prompt(rendered.text, tokens, left_out, rendered.reasoning)

    def _tokens(self, text: str) -> list[int]:
        known_text, known_tokens = self._known
        rest = text.removeprefix(known_text)
        # Behind an answer comes the end of its turn: a marker, at which no token can straddle.
        if known_text and text.startswith(known_text) and self._dialect.begins_with_marker(rest):
            return known_tokens + self._vocabulary.tokenise(rest)
        begins = self._dialect.begins_with_marker
        at, spelt = 0, list[int]()
        for held in self._held:
            count, end = spelled(text, held, self._vocabulary, begins)
            if end > at:
                at, spelt = end, list(held[:count])
        if at:
            return spelt + self._vocabulary.tokenise(text[at:])
        tokens = self._vocabulary.tokenise(text)
        if self._vocabulary.adds_bos and tokens[:1] != [self._vocabulary.bos]:
            tokens.insert(0, self._vocabulary.bos)
        return tokens

    def _lengths(self, messages: Sequence[Message], total: int) -> list[int]:
        """Tokens of each message, with its even share of the template's own."""
        texts = [len(self._vocabulary.tokenise(message.text)) for message in messages]
        markup = max(0, total - sum(texts)) // len(messages)
        return [text + markup for text in texts]
