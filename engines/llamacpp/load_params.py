"""Changes how llama.cpp loads models; for helper processes only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engines.llamacpp.native import Native


@contextmanager
def loading_with(native: Native, **changes: bool) -> Iterator[None]:
    """Set these fields of llama_model_params for all models loaded within the context."""
    api = native.api
    default = api.llama_model_default_params

    def changed() -> Any:
        params = default()
        for name, value in changes.items():
            setattr(params, name, value)
        return params

    api.llama_model_default_params = changed
    try:
        yield
    finally:
        api.llama_model_default_params = default
