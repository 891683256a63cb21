"""Finds the evaluated tokens of a conversation in its text.

A model can spell its answer with other tokens than the tokeniser does. The KV cache has the model's
tokens; a prompt that is rendered again has only the text, and would share no tokens with the cache
from that answer on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from engines.llamacpp.vocabulary import Vocabulary
from engines.text import SEAM, Utf8Decoder


def spelled(
    text: str,
    tokens: Sequence[int],
    vocabulary: Vocabulary,
    begins_with_marker: Callable[[str], bool],
    media: Sequence[tuple[tuple[int, int], Sequence[int]]] = (),
) -> tuple[int, int]:
    """Find how much of the beginning of `text` is spelled by the beginning of `tokens`.

    The match ends before a control token, in the tokens or in the text: there the tokeniser starts
    afresh in any case, and no token can straddle. It also starts afresh around media.

    Args:
        text: The rendered prompt.
        tokens: The evaluated tokens.
        vocabulary: The model's vocabulary.
        begins_with_marker: Returns whether a text is empty or begins with a control token.
        media: For each picture or sound, the begin and end of its placeholder in the text, and its
            tokens, in order.

    Returns:
        The number of tokens and of characters; (0, 0) if there is no such place.
    """
    decoder, at, place = Utf8Decoder(), 0, (0, 0)
    count, coming = 0, list(media)
    while count < len(tokens):
        token = tokens[count]
        while text.startswith(SEAM, at):
            at += len(SEAM)
        if coming and coming[0][0][0] == at and decoder.whole:
            (_, end), medium_tokens = coming.pop(0)
            if list(tokens[count : count + len(medium_tokens)]) != list(medium_tokens):
                return place
            count += len(medium_tokens)
            at, decoder, place = end, Utf8Decoder(), (count, end)
            continue
        if not 0 <= token < vocabulary.size:
            return place
        spelling = vocabulary.text(token)
        if spelling in vocabulary.control_texts:
            left = decoder.finish()
            if not text.startswith(left, at):
                return place
            at += len(left)
            decoder, place = Utf8Decoder(), (count, at)
            if count == 0 and token == vocabulary.bos and not text.startswith(spelling):
                count += 1
                continue  # the tokeniser adds it, not the template
        else:
            spelling = decoder.feed(vocabulary.piece(token))
        if not text.startswith(spelling, at):
            return place
        at += len(spelling)
        count += 1
    return (len(tokens), at) if decoder.whole and begins_with_marker(text[at:]) else place
