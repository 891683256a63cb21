"""A model together with all that is made from it."""

from __future__ import annotations

from time import perf_counter

from engines.dialect import Dialect
from engines.gguf_header import GgufHeader
from engines.llamacpp.cache import KvCache
from engines.llamacpp.context import Context
from engines.llamacpp.model import Model
from engines.llamacpp.native import Native, give_back_memory
from engines.llamacpp.prompting import Prompter
from engines.types import LoadedModel, LoadPlan


class Loaded:
    """Owns `model` from the moment it is made; `close` frees in the one order that is safe.

    began: when the load began, by `time.perf_counter`.
    Raises TemplateFailed, NotEnoughMemory, EngineFailed; then the model is the caller's to close.
    """

    def __init__(
        self, native: Native, model: Model, header: GgufHeader, plan: LoadPlan, began: float
    ) -> None:
        vocabulary = model.vocabulary
        self.dialect = Dialect(
            model.chat_template,
            bos=vocabulary.text(vocabulary.bos),
            eos=vocabulary.eos_text,
            control=vocabulary.control_texts,
            added=vocabulary.user_defined_texts,
        )
        self.native = native
        self.model = model
        self.context = Context(native, model, plan)
        try:
            self.cache = KvCache(native.api, self.context, model)
            self.prompter = Prompter(self.dialect, vocabulary, self.context.size)
            self.report = LoadedModel(
                name=header.name,
                architecture=header.architecture,
                parameters=model.parameters,
                size_bytes=header.size_bytes,
                context=self.context.size,
                context_trained=model.context_trained,
                device=_device(native, plan),
                load_s=perf_counter() - began,
            )
        except BaseException:
            self.context.close()
            raise

    def close(self) -> None:
        self.context.close()
        self.model.close()
        give_back_memory()


def _device(native: Native, plan: LoadPlan) -> str:
    """What the model runs on, in words."""
    gpus = [device.description for device in native.devices() if device.kind in {"gpu", "igpu"}]
    return ", ".join(gpus) if gpus and plan.gpu_layers else "CPU"
