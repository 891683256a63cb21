"""The key of saved states: a hash of everything that must agree before a state can be used."""

from __future__ import annotations

import ctypes
import os
from pathlib import Path
from typing import Any

from engines.llamacpp.context import Context
from engines.llamacpp.file_identity import file_identity
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native
from engines.llamacpp.resume.records import StateKey
from engines.types import LlamaPlan


def state_key(native: Native, model: Model, context: Context, plan: LlamaPlan) -> StateKey:
    """Return the key for states of this model file with these settings. Raises OSError.

    The size of the context is not part of the key, since a state holds only the cells in use. It
    matters only for rope factors that llama.cpp chooses by it (LongRoPE). The device is not part of
    it either: its rounding differs less than that between a long and a short batch. Nor is the
    batch size.
    """
    from hashlib import blake2b

    settings = (
        plan.kv_type,
        f"window {model.sliding_window}",
        f"recurrent {model.recurrent}",
        f"long {_is_stretched(native.api, model, context.size)}",
    )
    digest = blake2b(digest_size=16)
    for part in (file_identity(plan.model), *settings):
        digest.update(f"{part}\n".encode())
    place = blake2b(os.fsencode(plan.model.resolve()), digest_size=16).hexdigest()
    return StateKey(place, native.build, digest.hexdigest())


def adapted_key(key: StateKey, adapter: Path) -> StateKey:
    """Return the key for states that were also computed with an adapter. Raises OSError.

    Its place combines the model and the adapter, so these states do not replace the model's own.
    """
    from hashlib import blake2b

    where = key.place.encode() + os.fsencode(adapter.resolve())
    digest = blake2b(f"{key.digest}\n{file_identity(adapter)}\n".encode(), digest_size=16)
    place = blake2b(where, digest_size=16).hexdigest()
    return StateKey(place, key.build, digest.hexdigest())


def _is_stretched(api: Any, model: Model, context: int) -> bool:
    """Return whether the context is longer than the one in the model's original training.

    Some models are extended to longer contexts after that.
    """
    original = _metadata(api, model, "rope.scaling.original_context_length")
    return original is not None and context > int(original)


def _metadata(api: Any, model: Model, name: str) -> str | None:
    buffer = ctypes.create_string_buffer(64)
    architecture = _value(api, model, b"general.architecture", buffer)
    return _value(api, model, f"{architecture}.{name}".encode(), buffer)


def _value(api: Any, model: Model, key: bytes, buffer: ctypes.Array[ctypes.c_char]) -> str | None:
    length = api.llama_model_meta_val_str(model.pointer, key, buffer, len(buffer))
    return None if length < 0 else buffer.value.decode(errors="replace")
