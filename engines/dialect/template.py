"""The rendering of a chat template, which is a program from the model file, in a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from engines.cancel import CancelToken
from engines.errors import TemplateFailed, TemplateRefused
from engines.sentences import N_

# A template writes some ten pieces for each message, which may be in it more than once.
_MOST_PIECES = 1_000_000
_LONGEST_MARKUP = 1 << 20
_TIMES_WRITTEN = 4


class Renderer(Protocol):
    """A renderer of one model's prompts. Close it at the end."""

    def run(
        self,
        messages: list[dict[str, object]],
        values: Mapping[str, object],
        tools: list[dict[str, Any]] | None = None,
        cancel: CancelToken | None = None,
    ) -> str:
        """Render these messages, up to where the answer begins.

        Raises:
            TemplateFailed: The template fails or refuses the messages.
            Cancelled: It was cancelled, if the renderer can be cancelled.
        """
        ...

    def close(self) -> None:
        """Release the renderer's resources; a rendering under way may fail."""
        ...


class Template:
    """A renderer in this process, in a sandbox that limits only lengths.

    So use it only for templates that came with Hearth, and in `template_child`.

    Raises:
        TemplateFailed: The source cannot be compiled.
        MemoryError: Memory ran out.
    """

    def __init__(self, source: str) -> None:
        from engines.dialect.sandbox import OLD_VALUES, compile_template, old_values_of

        try:
            self._template = compile_template(source)
            self._old = {name: OLD_VALUES[name] for name in old_values_of(source)}
        except MemoryError:
            raise
        except Exception as error:  # a compiler can raise many kinds
            reason = str(error) or type(error).__name__
            raise unusable(N_("It is not written correctly: {reason}.", reason=reason)) from error

    def run(
        self,
        messages: list[dict[str, object]],
        values: Mapping[str, object],
        tools: list[dict[str, Any]] | None = None,
        cancel: CancelToken | None = None,  # noqa: ARG002  it takes no time that could be cancelled
    ) -> str:
        """Render at once. See `Renderer.run`. Raises TemplateFailed or MemoryError."""
        longest = _LONGEST_MARKUP + _TIMES_WRITTEN * (_length(messages) + _length(tools or ()))
        old = {name: write(tools or ()) for name, write in self._old.items()}
        try:
            return _limited(
                self._template.generate(
                    messages=messages,
                    add_generation_prompt=True,
                    tools=tools,
                    documents=None,
                    **old,
                    **values,
                ),
                longest,
            )
        except MemoryError:
            raise
        except Exception as error:  # a foreign program can raise anything
            raise refused(
                N_("It says: {error}.", error=str(error) or type(error).__name__)
            ) from error

    def close(self) -> None:
        """Do nothing: there is nothing to release."""


def template_failed(what: str, why: str) -> TemplateFailed:
    """Make the error for a model file's template that does not work."""
    return TemplateFailed(
        what,
        why,
        N_("Correct it with “Edit metadata…” on the model's page, or choose another model."),
        terminal=N_("Correct it with `hearth models edit`, or choose another model."),
    )


def unusable(why: str) -> TemplateFailed:
    """Make the error for a template that cannot be compiled."""
    return template_failed(N_("The model's chat template cannot be used."), why)


def refused(why: str) -> TemplateRefused:
    """Make the error for a template that raises an error for a conversation."""
    return TemplateRefused(
        N_("The model's chat template does not accept this conversation."),
        why,
        N_("Start a new chat, or choose another model."),
    )


def _length(records: Iterable[Mapping[str, object]]) -> int:
    return sum(len(str(value)) for record in records for value in record.values())


def _limited(pieces: Iterable[str], longest: int) -> str:
    """Join pieces into one text. Raises ValueError if they are endless."""
    texts: list[str] = []
    length = 0
    for piece in pieces:
        texts.append(piece)
        length += len(piece)
        if len(texts) > _MOST_PIECES or length > longest:
            raise ValueError("the prompt it writes has no end")
    return "".join(texts)
