"""The LoRA adapters of a loaded model: GGUF files, chosen by name for each evaluation.

llama.cpp needs all adapters of a model to be loaded before a context is created, and a context uses
one choice of adapters at a time. So answers with different adapters take turns, and answers with
the same adapter share evaluations. The adapters are freed with their model.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from engines.errors import AdapterUnknown
from engines.llamacpp.native import Native
from engines.models.gguf.reader import BadGguf, read_value
from engines.regular import open_regular
from engines.sentences import N_, joined
from engines.types import Adapter

_TYPE: Final = "general.type"
_ARCHITECTURE: Final = "general.architecture"
_KIND: Final = "adapter.type"
_OTHER: Final = N_("Name another adapter, or answer without one.")


class Adapters:
    """The adapters of one model. An adapter that does not fit is refused only when requested."""

    def __init__(self, native: Native, model: Any, adapters: Sequence[Adapter]) -> None:
        """Load the adapters.

        Args:
            native: The llama.cpp library.
            model: The native pointer of the model, which has no context yet.
            adapters: The adapters to load.
        """
        self._loaded: dict[str, Any] = {}
        self._refused: dict[str, AdapterUnknown] = {}
        for adapter in adapters:
            try:
                self._loaded[adapter.name] = _load(native, model, adapter)
            except AdapterUnknown as error:
                self._refused[adapter.name] = error

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each adapter that cannot be used."""
        return tuple(joined(" ", (error.what, error.why)) for error in self._refused.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the adapters that can be used."""
        return tuple(self._loaded)

    def require(self, name: str) -> None:
        """Raise AdapterUnknown, with the reason, if the adapter does not fit the model."""
        if name in self._refused:
            raise self._refused[name]

    def pointer(self, name: str) -> Any:
        """Return the native pointer of a loaded adapter."""
        return self._loaded[name]


def _load(native: Native, model: Any, adapter: Adapter) -> Any:
    api = native.api
    _require_fitting(api, model, adapter)
    with native.log.watch() as complaints:
        path = str(adapter.path).encode("utf-8", "surrogateescape")
        pointer = api.llama_adapter_lora_init(model, path)
    if not pointer:
        message = " ".join(complaints) or N_("nothing about the reason")
        raise _refused(adapter, N_("llama.cpp says: {message}.", message=message))
    if api.llama_adapter_get_alora_n_invocation_tokens(pointer):
        api.llama_adapter_lora_free(pointer)
        raise _refused(
            adapter, N_("Words in the prompt switch it on, which Hearth does not support.")
        )
    return pointer


def _require_fitting(api: Any, model: Any, adapter: Adapter) -> None:
    """Raise AdapterUnknown unless the file is a LoRA adapter for the model's architecture."""
    try:
        type_, kind, architecture = (
            _text(adapter.path, key) for key in (_TYPE, _KIND, _ARCHITECTURE)
        )
    except OSError as error:
        raise _refused(
            adapter, N_("Its file cannot be read: {strerror}.", strerror=error.strerror or error)
        ) from error
    except (BadGguf, ValueError) as error:
        raise _refused(
            adapter, N_("Its file is not a readable GGUF file: {error}.", error=error)
        ) from error
    if (type_, kind) != ("adapter", "lora"):
        raise _refused(
            adapter, N_("“{name}” is not a LoRA adapter in GGUF format.", name=adapter.path.name)
        )
    buffer = ctypes.create_string_buffer(64)
    api.llama_model_meta_val_str(model, _ARCHITECTURE.encode(), buffer, len(buffer))
    expected = buffer.value.decode(errors="replace")
    if architecture != expected:
        raise _refused(
            adapter,
            N_(
                "It was made for a model of the kind {made_for}; this one is {architecture}.",
                made_for=architecture,
                architecture=expected,
            ),
        )


def _text(path: Path, key: str) -> str:
    with open_regular(path) as file:
        value = read_value(file, path.stat().st_size, key)
    return value if isinstance(value, str) else ""


def _refused(adapter: Adapter, why: str) -> AdapterUnknown:
    return AdapterUnknown(
        N_("The adapter “{adapter}” cannot be used.", adapter=adapter.name), why, _OTHER
    )
