"""The errors that a user can meet, in three parts: what happened, why, what to do now.

::

    UserError                    the world's fault, not a bug; `code` is the terminal's contract
     +-- EngineError             raised by engines
          +-- ModelNotFound      model_not_found       no file at that place
          +-- ModelUnreadable    model_unreadable      the system does not let us read it
          +-- NotAModel          model_not_gguf        the file is something else
          +-- ModelDamaged       model_damaged         truncated, or its content contradicts itself
          +-- MetadataRefused    metadata              what is to be written there makes no sense
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
          +-- Unsupported        unsupported           the model or its engine has no such thing
          +-- MtpUnavailable     mtp                   nothing can draft for this model
          +-- ModelRefused       model_refused         the file ended the process that tried it
          +-- NotSized           not_sized             the library cannot say what a plan takes
          +-- ServerUnreachable  server_unreachable    there is no way to a model's server
          +-- ServerRefused      server_refused        it wants a key, or another one
          +-- ServerBusy         server_busy           it has too much to do, or is still starting
          +-- ServerFailed       server_error          it gave up, or answers something else
          +-- EngineUnavailable  engine_unavailable    the engine cannot run on this computer
          +-- EngineFailed       engine_failed         the engine gave up in the middle

`Cancelled` is not an error: it is how a load, a download or an installation ends that the user
stopped.
"""

from __future__ import annotations

import errno
import re
from typing import Literal, NamedTuple

from engines.redaction import redact_certain


class Action(NamedTuple):
    """The action of a button beside an error.

    value: tokens for "shorter_context", what is missing for "install", the setting's name for
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
    ]
    value: int | str = ""


class UserError(Exception):
    """An error that the user can understand and act on.

    what: one short sentence, what happened.
    why: one sentence in plain words.
    do: one sentence, what to do now.
    terminal: the same for those who type commands; "" where `do` is right for them, too.
    """

    code = "error"

    def __init__(self, what: str, why: str, do: str, *, terminal: str = "") -> None:
        # What a host said may be part of it, and with that a key that it was sent.
        what, why, do = redact_certain(what), redact_certain(why), redact_certain(do)
        self.what = what
        self.why = why
        self.do = do
        self.terminal = redact_certain(terminal) or do
        super().__init__(f"{what} {why} {self.terminal}")


class EngineError(UserError):
    """An error of an engine; the conversation is untouched. action: what a button could do."""

    code = "engine"

    def __init__(
        self, what: str, why: str, do: str, action: Action | None = None, *, terminal: str = ""
    ) -> None:
        super().__init__(what, why, do, terminal=terminal)
        self.action = action


class ModelNotFound(EngineError):
    code = "model_not_found"


class ModelUnreadable(EngineError):
    code = "model_unreadable"


class NotAModel(EngineError):
    code = "model_not_gguf"


class ModelDamaged(EngineError):
    code = "model_damaged"


class MetadataRefused(EngineError):
    code = "metadata"


class UnknownArchitecture(EngineError):
    code = "model_architecture"


class NotAChatModel(EngineError):
    code = "model_not_chat"


class NotEnoughMemory(EngineError):
    code = "memory"


def out_of_memory() -> NotEnoughMemory:
    """Make the error for memory that the system does not give."""
    return NotEnoughMemory(
        "Memory ran out.",
        "The system gave Hearth no more of it, or no further thread; your chats are safe.",
        "Close other programs, or choose a smaller model or context, then try again.",
    )


_NO_MEMORY = re.compile("failed to map segment|Cannot allocate memory|can't start new thread")


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether the system, Python or a library that was to be loaded lacked memory."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        return True
    kinds = (ImportError, OSError, RuntimeError)
    return isinstance(error, kinds) and _NO_MEMORY.search(str(error)) is not None


class ContextTooLarge(EngineError):
    code = "context"


class TooManyTokens(EngineError):
    """A prompt that does not fit the model's context.

    tokens: Of the prompt; None where they are not known. context: The model's, likewise.
    kept: How many of those are reserved for the answer. counted: False where the prompt has at
    least so many tokens.
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
    code = "message_too_long"


class ContextFull(TooManyTokens):
    code = "context_full"


class TemplateFailed(EngineError):
    code = "template"


class TemplateRefused(TemplateFailed):
    pass


class GrammarInvalid(EngineError):
    code = "grammar"


class AdapterUnknown(EngineError):
    code = "adapter"


class DrafterMismatch(EngineError):
    code = "drafter"


class ProjectorRefused(EngineError):
    code = "projector"


class MediaUnsupported(EngineError):
    code = "media"


class MediumUnreadable(EngineError):
    code = "medium"


class Unsupported(EngineError):
    code = "unsupported"


class MtpUnavailable(EngineError):
    code = "mtp"


class ModelRefused(EngineError):
    code = "model_refused"


class NotSized(EngineError):
    code = "not_sized"


class ServerUnreachable(EngineError):
    code = "server_unreachable"


class ServerRefused(EngineError):
    code = "server_refused"


class ServerBusy(EngineError):
    code = "server_busy"


class ServerFailed(EngineError):
    code = "server_error"


class EngineUnavailable(EngineError):
    code = "engine_unavailable"


class EngineFailed(EngineError):
    code = "engine_failed"


class Cancelled(Exception):
    """The user stopped the work. A load leaves nothing loaded; a transfer keeps what has come."""
