"""Finds the tokens in which a conversation was evaluated in its text again.

A model may spell its answer in other tokens than the tokeniser does. The KV cache knows which; a
prompt that is rendered anew does not, and would share nothing with it from that answer on.
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
    """Count how many of `tokens` spell the beginning of `text`, and its characters.

    It ends where a control token follows, in the tokens or in the text: there the tokeniser
    begins anew in any case, and no token can straddle. (0, 0) if there is no such place.
    begins_with_marker: whether a text is empty or begins with such a token. media: begin and end
    in the text of what stands for a picture or a sound, and the tokens of that, one behind the
    other; around them the tokeniser begins anew, too.
    """
    decoder, at, place = Utf8Decoder(), 0, (0, 0)
    count, coming = 0, list(media)
    while count < len(tokens):
        token = tokens[count]
        while text.startswith(SEAM, at):
            at += len(SEAM)
        if coming and coming[0][0][0] == at and decoder.whole:
            (_, end), its = coming.pop(0)
            if list(tokens[count : count + len(its)]) != list(its):
                return place
            count += len(its)
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
                continue  # the tokeniser puts it there, not the template
        else:
            spelling = decoder.feed(vocabulary.piece(token))
        if not text.startswith(spelling, at):
            return place
        at += len(spelling)
        count += 1
    return (len(tokens), at) if decoder.whole and begins_with_marker(text[at:]) else place
