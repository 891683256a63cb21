"""A loaded model, the owner of a native llama_model."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engines.base import Progress
from engines.cancel import CancelToken
from engines.errors import Cancelled, ModelDamaged, NotAChatModel
from engines.llamacpp.adapters import Adapters
from engines.llamacpp.constraints import TokenGuides
from engines.llamacpp.failures import load_failure
from engines.llamacpp.native import Native
from engines.llamacpp.placing import placement_of
from engines.llamacpp.vocabulary import Vocabulary
from engines.models.gguf import heads
from engines.sentences import N_
from engines.types import Adapter, LlamaPlan

_NO_VOCABULARY = 0
"""LLAMA_VOCAB_TYPE_NONE: any function that uses its tokens would end the process."""


class Model:
    """A loaded model. Close it after every context that was created from it.

    Attributes:
        adapters: The LoRA adapters that were loaded with the model.
        vocabulary: The model's tokens.
        guides: The grammars that answers follow.
        parameters: Number of parameters.
        context_trained: The longest context in training, in tokens.
        sliding_window: Size of the sliding window in tokens; 0 without one.
        recurrent: Whether some or all of its layers are recurrent.
        predicts: Whether its prediction layers are loaded, too.
        keeps_states: Whether llama.cpp can keep its recurrent state after each of the last few
            tokens.
        chat_template: The chat template in the file; None without one.
    """

    def __init__(self, native: Native, pointer: Any, *, predicts: bool = False) -> None:
        api = native.api
        self._native = native
        self._api = api
        self.pointer = pointer
        self.adapters = Adapters(native, pointer, ())
        self.vocabulary = Vocabulary(native, pointer)
        self.guides = TokenGuides(self.vocabulary)
        self.parameters = int(api.llama_model_n_params(pointer))
        self.context_trained = int(api.llama_model_n_ctx_train(pointer))
        self.sliding_window = int(api.llama_model_n_swa(pointer))
        self.recurrent = bool(
            api.llama_model_is_recurrent(pointer) or api.llama_model_is_hybrid(pointer)
        )
        self.predicts = predicts
        self.keeps_states = self.recurrent and heads.keeps_states(_architecture(api, pointer))
        template = api.llama_model_chat_template(pointer, None)
        self.chat_template: str | None = template.decode(errors="replace") if template else None

    def load_adapters(self, adapters: Sequence[Adapter]) -> None:
        """Load LoRA adapters in addition to the weights, before the model has a context."""
        self.adapters = Adapters(self._native, self.pointer, adapters)

    def close(self) -> None:
        """Free the model, once."""
        self.guides.close()
        if self.pointer:
            self._api.llama_model_free(self.pointer)
            self.pointer = None


def open_model(
    native: Native, plan: LlamaPlan, progress: Progress, cancel: CancelToken, *, mtp: bool = False
) -> Model:
    """Load the plan's weights, with `mtp` also its prediction layers.

    Raises:
        EngineError: The model cannot be loaded; nothing is left behind.
        Cancelled: `cancel` was set; nothing is left behind.
    """
    api = native.api
    pointer = load_weights(native, plan.model, plan, progress, cancel, mtp=mtp)
    if api.llama_vocab_type(api.llama_model_get_vocab(pointer)) == _NO_VOCABULARY:
        api.llama_model_free(pointer)
        raise NotAChatModel(
            N_("“{name}” is not a chat model.", name=plan.model.name),
            N_("It has no tokenizer, so it cannot read text."),
            N_("Choose a chat model instead."),
        )
    model = Model(native, pointer, predicts=mtp)
    if not model.vocabulary.reads_any_text:
        model.close()
        raise ModelDamaged(
            N_("The model file “{name}” is damaged.", name=plan.model.name),
            N_("Its tokenizer cannot read every text: some of its 256 byte tokens are missing."),
            N_("Download the file again, or get it from another place."),
        )
    return model


def load_weights(
    native: Native,
    path: Path,
    plan: LlamaPlan,
    progress: Progress,
    cancel: CancelToken,
    *,
    mtp: bool,
) -> Any:
    """Load a native llama_model, which the caller must free. Raises EngineError or Cancelled."""
    api = native.api
    failed: list[BaseException] = []

    @api.llama_progress_callback  # type: ignore[untyped-decorator]
    def on_progress(part: float, _user_data: object) -> bool:
        try:
            progress(part)
        except BaseException as error:  # noqa: BLE001  C cannot pass it on: raised again below
            failed.append(error)
            return False
        return not cancel.cancelled

    params = api.llama_model_default_params()
    # Its arrays must stay alive until the model is loaded.
    placement = placement_of(native, plan)
    params.n_gpu_layers = plan.gpu_layers
    params.devices = placement.devices
    params.tensor_buft_overrides = placement.overrides
    params.load_mode = 1 if plan.mmap else 0
    params.use_extra_bufts = plan.repack
    params.load_mtp = mtp
    params.progress_callback = on_progress
    with native.log.watch() as complaints:
        pointer = api.llama_model_load_from_file(_path_bytes(path), params)
    if pointer:
        return pointer
    if failed:
        raise failed[0]
    if cancel.cancelled:
        raise Cancelled
    raise load_failure(path, complaints)


def _architecture(api: Any, pointer: Any) -> str:
    name = ctypes.create_string_buffer(64)
    api.llama_model_meta_val_str(pointer, b"general.architecture", name, len(name))
    return name.value.decode(errors="replace")


def _path_bytes(path: Path) -> bytes:
    """Return the path as UTF-8, which llama.cpp expects on every system, including Windows."""
    return str(path).encode("utf-8", "surrogateescape")
