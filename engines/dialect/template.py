"""Runs a chat template: a program that comes with the model file, in a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engines.errors import TemplateFailed

# Far more than any context takes; a template writes some ten pieces for each message.
_MOST_PIECES = 1_000_000
_MOST_TEXT = 1 << 26


class Template:
    """A compiled template. Raises TemplateFailed, also when it is made."""

    def __init__(self, source: str) -> None:
        from engines.dialect.sandbox import compile_template

        self._template = compile_template(source)

    def run(
        self,
        messages: list[dict[str, object]],
        values: Mapping[str, object],
        tools: list[dict[str, Any]] | None = None,
    ) -> str:
        """What it writes for these messages, up to where the answer begins."""
        try:
            return _limited(
                self._template.generate(
                    messages=messages,
                    add_generation_prompt=True,
                    tools=tools,
                    documents=None,
                    **values,
                )
            )
        except Exception as error:  # a foreign program may raise anything
            raise TemplateFailed(
                "The model's chat template does not accept this conversation.",
                f"It says: {str(error) or type(error).__name__}.",
                "Start a new chat, or choose another model.",
            ) from error


def _limited(pieces: Iterable[str]) -> str:
    """The pieces as one text; raises ValueError if they are endless.

    A template that writes nothing in its loops, or collects the text in a variable or a macro,
    is not stopped: it yields no piece meanwhile.
    """
    kept: list[str] = []
    length = 0
    for piece in pieces:
        kept.append(piece)
        length += len(piece)
        if len(kept) > _MOST_PIECES or length > _MOST_TEXT:
            raise ValueError("the prompt it writes has no end")
    return "".join(kept)
