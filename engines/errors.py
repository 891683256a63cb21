"""The errors that a user can meet, in three parts: what happened, why, and what to do now.

::

    UserError                    not a bug; `code` is part of the command line's contract
     +-- EngineError             raised by engines
          +-- ModelNotFound      model_not_found       no file at that path
          +-- ModelUnreadable    model_unreadable      the system does not let us read it
          +-- NotAModel          model_not_gguf        the file is something else
          +-- ModelDamaged       model_damaged         truncated, or its content contradicts itself
          +-- MetadataRefused    metadata              the metadata to be written makes no sense
          +-- UnknownArchitecture  model_architecture  a model this llama.cpp does not know
          +-- NotAChatModel      model_not_chat        a drafter, projector or embedding model
          +-- NotEnoughMemory    memory                the plan needs more than is free
          +-- ContextTooLarge    context               more tokens than the model was trained for
          +-- TooManyTokens                            a prompt that does not fit the context
          |    +-- MessageTooLong  message_too_long    the last message alone exceeds it
          |    +-- ContextFull     context_full        the conversation does not fit as a whole
          +-- TemplateFailed     template              the chat template cannot be used
          |    +-- TemplateRefused                     it raises an error for these messages
          +-- GrammarInvalid     grammar               the answer's grammar cannot be read
          +-- AdapterUnknown     adapter               no LoRA adapter of that name is loaded
          +-- DrafterMismatch    drafter               the drafter belongs to another model
          +-- ProjectorRefused   projector             a projector that does not suit the model
          +-- MediaUnsupported   media                 the model takes no pictures, or no sounds
          +-- MediumUnreadable   medium                a picture or a sound is damaged or too large
          +-- Unsupported        unsupported           the model or its engine cannot do this
          +-- MtpUnavailable     mtp                   nothing can draft for this model
          +-- ModelRefused       model_refused         the file crashed the process that tried it
          +-- NotSized           not_sized             the library cannot size a plan
          +-- ServerUnreachable  server_unreachable    a model's server cannot be reached
          +-- ServerRefused      server_refused        it wants a key, or another one
          +-- ServerBusy         server_busy           it has too much to do, or is still starting
          +-- ServerFailed       server_error          it failed, or its answer cannot be understood
          +-- EngineUnavailable  engine_unavailable    the engine cannot run on this computer
          +-- EngineFailed       engine_failed         the engine failed in the middle of its work

`Cancelled` is not an error: it ends a load, a download or an installation that the user stopped.
"""

from __future__ import annotations

import errno
import re
from typing import Literal, NamedTuple

from engines.redaction import redact_certain
from engines.sentences import N_, joined


class Action(NamedTuple):
    """The action of a button beside an error.

    Attributes:
        value: Tokens for "shorter_context", the missing part for "install", the setting's name for
            "open_settings", the server's name for "enter_key", the model's id for "get_projector".
    """

    kind: Literal[
        "shorter_context",
        "stop_worker",
        "free_memory",
        "install",
        "open_settings",
        "enter_key",
        "get_projector",
        "find_model",
        "load_anyway",
    ]
    value: int | str = ""


class UserError(Exception):
    """An error that the user can understand and act on.

    Attributes:
        what: One short sentence: what happened.
        why: One sentence in plain words: why.
        do: One sentence: what to do now.
        terminal: The same as `do` for people who type commands; by default it is `do`.
    """

    code = "error"

    def __init__(self, what: str, why: str, do: str, *, terminal: str = "") -> None:
        # A part can quote a server's message, and with it a key that was sent to that server.
        what, why, do = redact_certain(what), redact_certain(why), redact_certain(do)
        self.what = what
        self.why = why
        self.do = do
        self.terminal = redact_certain(terminal) or do
        super().__init__(f"{what} {why} {self.terminal}")

    @property
    def in_terminal(self) -> str:
        """The three parts in one text, for people who type commands."""
        return joined(" ", (self.what, self.why, self.terminal))


class EngineError(UserError):
    """An error of an engine; the conversation is unchanged.

    Attributes:
        action: The action of a button beside the error, if there is one.
    """

    code = "engine"

    def __init__(
        self, what: str, why: str, do: str, action: Action | None = None, *, terminal: str = ""
    ) -> None:
        super().__init__(what, why, do, terminal=terminal)
        self.action = action


class ModelNotFound(EngineError):
    """There is no file at the model's path."""

    code = "model_not_found"


class ModelUnreadable(EngineError):
    """The system does not allow reading the model."""

    code = "model_unreadable"


class NotAModel(EngineError):
    """The file is not a model."""

    code = "model_not_gguf"


class ModelDamaged(EngineError):
    """The model's file is truncated or contradicts itself."""

    code = "model_damaged"


class MetadataRefused(EngineError):
    """The metadata to be written makes no sense."""

    code = "metadata"


class UnknownArchitecture(EngineError):
    """This llama.cpp does not know the model's architecture."""

    code = "model_architecture"


class NotAChatModel(EngineError):
    """The file is a drafter, a projector or an embedding model."""

    code = "model_not_chat"


class NotEnoughMemory(EngineError):
    """The plan needs more memory than is free."""

    code = "memory"


def out_of_memory() -> NotEnoughMemory:
    """Make the error for memory that the system refused."""
    return NotEnoughMemory(
        N_("Memory ran out."),
        N_("The system refused Hearth more memory or another thread; your chats are safe."),
        N_("Close other programs, or choose a smaller model or context, then try again."),
    )


_NO_MEMORY = re.compile("failed to map segment|Cannot allocate memory|can't start new thread")


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether the system, Python or a library that was being loaded ran out of memory."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    kinds = (ImportError, OSError, RuntimeError)
    return isinstance(error, kinds) and _NO_MEMORY.search(str(error)) is not None


class ContextTooLarge(EngineError):
    """The context is longer than the model was trained for."""

    code = "context"


class TooManyTokens(EngineError):
    """A prompt that does not fit the model's context.

    Attributes:
        tokens: Tokens of the prompt; None if unknown.
        context: Tokens of the model's context; None if unknown.
        kept: Tokens of the context that are reserved for the answer.
        counted: False if the prompt has at least `tokens` tokens.
    """

    def __init__(
        self,
        what: str,
        why: str,
        do: str,
        action: Action | None = None,
        *,
        tokens: int | None = None,
        context: int | None = None,
        kept: int = 0,
        counted: bool = True,
        terminal: str = "",
    ) -> None:
        super().__init__(what, why, do, action, terminal=terminal)
        self.tokens = tokens
        self.context = context
        self.kept = kept
        self.counted = counted


class MessageTooLong(TooManyTokens):
    """The last message alone exceeds the context."""

    code = "message_too_long"


class ContextFull(TooManyTokens):
    """The conversation as a whole does not fit the context."""

    code = "context_full"


class TemplateFailed(EngineError):
    """The chat template cannot be used."""

    code = "template"


class TemplateRefused(TemplateFailed):
    """The chat template raises an error for these messages."""


class GrammarInvalid(EngineError):
    """The answer's grammar cannot be read."""

    code = "grammar"


class AdapterUnknown(EngineError):
    """No LoRA adapter of that name is loaded."""

    code = "adapter"


class DrafterMismatch(EngineError):
    """The drafter belongs to another model."""

    code = "drafter"


class ProjectorRefused(EngineError):
    """The projector does not suit the model."""

    code = "projector"


class MediaUnsupported(EngineError):
    """The model takes no pictures, or no sounds."""

    code = "media"


class MediumUnreadable(EngineError):
    """A picture or a sound is damaged or too large."""

    code = "medium"


class Unsupported(EngineError):
    """The model or its engine cannot do this."""

    code = "unsupported"


class MtpUnavailable(EngineError):
    """Nothing can draft for this model."""

    code = "mtp"


class ModelRefused(EngineError):
    """The file crashed the process that tried it."""

    code = "model_refused"


class NotSized(EngineError):
    """The library cannot say how much memory a plan takes."""

    code = "not_sized"


class ServerUnreachable(EngineError):
    """The model's server cannot be reached."""

    code = "server_unreachable"


class ServerRefused(EngineError):
    """The server wants a key, or another one."""

    code = "server_refused"


class ServerBusy(EngineError):
    """The server has too much to do or is still starting."""

    code = "server_busy"


class ServerFailed(EngineError):
    """The server failed, or its answer cannot be understood."""

    code = "server_error"


class EngineUnavailable(EngineError):
    """The engine cannot run on this computer."""

    code = "engine_unavailable"


class EngineFailed(EngineError):
    """The engine failed in the middle of its work."""

    code = "engine_failed"


class Cancelled(Exception):
    """The user stopped the work.

    A load leaves nothing loaded; a transfer keeps the data it received.
    """
