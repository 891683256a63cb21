"""The reasons why llama.cpp refused, read from its log. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from engines.errors import (
    EngineError,
    EngineFailed,
    ModelDamaged,
    NotEnoughMemory,
    ProjectorRefused,
    UnknownArchitecture,
    out_of_memory,
)
from engines.sentences import N_

_ARCHITECTURE = re.compile(r"unknown model architecture: '([^']*)'")
_TOKENIZER = re.compile(r"unknown pre-tokenizer type: '([^']*)'|(?:unknown tokenizer): '([^']*)'")
_MEMORY = re.compile(
    r"(?:failed|unable) to allocate|out of memory|std::bad_alloc|bad allocation|cudaMalloc failed"
    r"|failed to reserve|ErrorOutOfDeviceMemory|Cannot allocate memory"
)
_THREADS = re.compile(r"Resource temporarily unavailable|can't start new thread")
"""The system's messages when it has no memory for a thread's stack, or no thread left."""
_DAMAGED = re.compile(
    r"not within the file bounds|missing tensor|wrong number of tensors|wrong shape|key not found"
    r"|invalid magic|failed to read|unexpectedly reached end|corrupted|tensor '[^']*' not found"
    r"|error loading model (?:hyperparameters|vocabulary)|failed to load model from"
    r"|tensor '[^']*' has invalid data|data validation"
)
_OTHER_WIDTH = re.compile(r"mismatch between text model \(n_embd = (\d+)\) and mmproj")
_PROJECTOR = re.compile(r"(?:unknown|unexpected \w+) projector type:? (\S+)")
_KV_TYPE = re.compile(r"[KV] cache type (\w+) with block size")


def load_failure(model: Path, lines: Iterable[str]) -> EngineError:
    """Return the error for a model that llama.cpp did not load."""
    log = "\n".join(lines)
    if found := _ARCHITECTURE.search(log):
        return unknown_architecture(model, found[1])
    if found := _TOKENIZER.search(log):
        return UnknownArchitecture(
            N_("Hearth cannot run “{name}” yet.", name=model.name),
            N_(
                "The llama.cpp in this version does not know its tokenizer, “{found}”.",
                found=found[1] or found[2],
            ),
            N_("Update Hearth, or choose another model."),
        )
    if _MEMORY.search(log):
        return NotEnoughMemory(
            N_("There is not enough memory to load “{name}”.", name=model.name),
            N_("Its weights need more than is free at the moment."),
            N_("Close other programs, or choose a smaller model or quantisation."),
        )
    if _THREADS.search(log):
        return NotEnoughMemory(
            N_("There is not enough memory to load “{name}”.", name=model.name),
            N_("The system did not give it more memory or another thread."),
            N_("Close other programs, or choose a smaller model or quantisation."),
        )
    if _DAMAGED.search(log):
        return ModelDamaged(
            N_("The model file “{name}” is damaged.", name=model.name),
            N_("llama.cpp says: {message}.", message=_reason_in(log)),
            N_("Download the file again, or get it from another place."),
        )
    return EngineFailed(
        N_("“{name}” could not be loaded.", name=model.name),
        N_("llama.cpp says: {message}.", message=_reason_in(log)),
        N_("Try another model, or update Hearth."),
        terminal=N_(
            "Try another model, or update Hearth; `hearth doctor` checks what commonly breaks."
        ),
    )


def projector_failure(projector: Path, lines: Iterable[str]) -> EngineError:
    """Return the error for a projector that llama.cpp did not load for a model."""
    log = "\n".join(lines)
    if _MEMORY.search(log) or _THREADS.search(log):
        return NotEnoughMemory(
            N_("There is not enough memory for the projector “{name}”.", name=projector.name),
            N_("The model sees and hears with it, and it needs more than is free."),
            N_("Close other programs, or choose a smaller model or context."),
        )
    what = N_("The projector “{name}” cannot be used.", name=projector.name)
    if _OTHER_WIDTH.search(log):
        return ProjectorRefused(
            what, N_("It was made for another model."), N_("Get the projector of this model.")
        )
    if found := _PROJECTOR.search(log):
        why = N_("The llama.cpp in this version does not know its kind, “{found}”.", found=found[1])
        return ProjectorRefused(what, why, N_("Update Hearth, or choose another model."))
    return ProjectorRefused(
        what,
        N_("llama.cpp says: {message}.", message=_reason_in(log)),
        N_("Download the file again, or get it from another place."),
    )


def unknown_architecture(model: Path, architecture: str) -> UnknownArchitecture:
    """Return the error for a model whose architecture llama.cpp does not know."""
    return UnknownArchitecture(
        N_("Hearth cannot run “{name}” yet.", name=model.name),
        N_(
            "The llama.cpp in this version does not know its architecture, “{architecture}”.",
            architecture=architecture,
        ),
        N_("Update Hearth, or choose another model."),
    )


def context_failure(model: Path, context: int, lines: Iterable[str]) -> EngineError:
    """Return the error for a loaded model for which llama.cpp did not create a context."""
    log = "\n".join(lines)
    if found := _KV_TYPE.search(log):
        return EngineFailed(
            N_("“{name}” cannot run with a {found} KV cache.", name=model.name, found=found[1]),
            N_("The size of its attention heads does not divide into blocks of that type."),
            N_("Set the KV cache type to f16."),
        )
    if _MEMORY.search(log):
        return NotEnoughMemory(
            N_(
                "There is not enough memory for a context of {context} tokens with “{name}”.",
                context=context,
                name=model.name,
            ),
            N_("The KV cache grows with the context, and needs more than is free."),
            N_("Choose a smaller context, or a smaller model."),
        )
    if _THREADS.search(log):
        return out_of_memory()
    return EngineFailed(
        N_("“{name}” was loaded, but cannot be started.", name=model.name),
        N_("llama.cpp says: {message}.", message=_reason_in(log)),
        N_("Try another model, or update Hearth."),
        terminal=N_(
            "Try another model, or update Hearth; `hearth doctor` checks what commonly breaks."
        ),
    )


def _reason_in(log: str) -> str:
    """Return the most telling line: the last one that does more than repeat the failure."""
    telling = [
        line
        for line in log.splitlines()
        if not line.endswith(("failed to load model", "exiting due to model loading error"))
    ]
    line = telling[-1] if telling else N_("nothing about the reason")
    return re.sub(r"^[\w:]+: (?:error loading model: )?", "", line).rstrip(".")
