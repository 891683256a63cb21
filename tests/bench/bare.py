"""The bare loop of decoding: llama.cpp's C functions, called one after the other."""

from __future__ import annotations

import ctypes
from time import perf_counter
from typing import Any

from engines.types import LlamaPlan, Sampling


class BareLoop:
    """A model and a context opened like the engine's, and nothing else of Hearth."""

    def __init__(self, api: Any, plan: LlamaPlan) -> None:
        self.api = api
        params = api.llama_model_default_params()
        params.n_gpu_layers = plan.gpu_layers
        self.model = api.llama_model_load_from_file(str(plan.model).encode(), params)
        context = api.llama_context_default_params()
        context.n_ctx, context.n_batch, context.n_ubatch = plan.context, plan.batch, plan.batch
        context.n_threads, context.n_threads_batch = plan.threads, plan.batch_threads
        context.n_seq_max = context.n_outputs_max = 1
        context.flash_attn_type = -1
        context.swa_full = False
        context.no_perf = True
        self.context = api.llama_init_from_model(self.model, context)
        self.memory = api.llama_get_memory(self.context)
        self.vocabulary = api.llama_model_get_vocab(self.model)

    def prefill(self, prompt: list[int]) -> float:
        """Evaluate the prompt in an empty context; return the seconds."""
        api = self.api
        api.llama_memory_clear(self.memory, False)
        tokens = (ctypes.c_int32 * len(prompt))(*prompt)
        began = perf_counter()
        assert api.llama_decode(self.context, api.llama_batch_get_one(tokens, len(prompt))) == 0
        api.llama_get_logits_ith(self.context, -1)
        return perf_counter() - began

    def decode(self, prompt: list[int], count: int, sampling: Sampling) -> tuple[float, list[int]]:
        """Answer a prompt that is cached except for its last token; return seconds and tokens."""
        api = self.api
        if not api.llama_memory_seq_rm(self.memory, 0, len(prompt) - 1, -1):
            raise RuntimeError("the prompt is not in the cache")
        chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        for sampler in (
            api.llama_sampler_init_top_k(sampling.top_k),
            api.llama_sampler_init_top_p(sampling.top_p, 1),
            api.llama_sampler_init_min_p(sampling.min_p, 1),
            api.llama_sampler_init_temp(sampling.temperature),
            api.llama_sampler_init_dist(sampling.seed),
        ):
            api.llama_sampler_chain_add(chain, sampler)
        token = (ctypes.c_int32 * 1)(prompt[-1])
        batch = api.llama_batch_get_one(token, 1)
        buffer = ctypes.create_string_buffer(64)
        answer: list[int] = []
        began = perf_counter()
        while len(answer) < count:
            assert api.llama_decode(self.context, batch) == 0
            token[0] = api.llama_sampler_sample(chain, self.context, -1)
            if api.llama_vocab_is_eog(self.vocabulary, token[0]):
                break
            api.llama_token_to_piece(self.vocabulary, token[0], buffer, 64, 0, False)
            answer.append(token[0])
        seconds = perf_counter() - began
        api.llama_sampler_free(chain)
        return seconds, answer

    def close(self) -> None:
        self.api.llama_free(self.context)
        self.api.llama_model_free(self.model)
