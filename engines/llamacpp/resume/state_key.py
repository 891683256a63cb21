"""The key of saved states: a hash of all that has to agree for one to be of use."""

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
from engines.types import LoadPlan


def state_key(native: Native, model: Model, context: Context, plan: LoadPlan) -> StateKey:
    """Return the key of the states of this model file with these settings. Raises OSError.

    The size of the context is not in it: a state has the cells that are in use. It matters only
    to rope factors that llama.cpp chooses by it (LongRoPE). Nor is the device, whose rounding
    differs less than that between a long and a short batch, or the batch size.
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
    """Return the key of states that were computed with an adapter as well. Raises OSError.

    Their place is of the model and the adapter: they are not in the way of the model's own.
    """
    from hashlib import blake2b

    where = key.place.encode() + os.fsencode(adapter.resolve())
    digest = blake2b(f"{key.digest}\n{file_identity(adapter)}\n".encode(), digest_size=16)
    place = blake2b(where, digest_size=16).hexdigest()
    return StateKey(place, key.build, digest.hexdigest())


def _is_stretched(api: Any, model: Model, context: int) -> bool:
    """Whether the context is longer than the model was trained with before it was extended."""
    original = _metadata(api, model, "rope.scaling.original_context_length")
    return original is not None and context > int(original)


def _metadata(api: Any, model: Model, name: str) -> str | None:
    buffer = ctypes.create_string_buffer(64)
    architecture = _value(api, model, b"general.architecture", buffer)
    return _value(api, model, f"{architecture}.{name}".encode(), buffer)


def _value(api: Any, model: Model, key: bytes, buffer: ctypes.Array[ctypes.c_char]) -> str | None:
    length = api.llama_model_meta_val_str(model.pointer, key, buffer, len(buffer))
    return None if length < 0 else buffer.value.decode(errors="replace")
