"""The lines of vLLM 0.33's start on a card, in their order: standard library only.

The order is that of a first start on an H200 with a small Gemma 4; the words are those of its
sources, and of FlashInfer's 0.7.2.
"""

from __future__ import annotations

_API = "(APIServer pid=7) INFO 11-27 01:02:03 "
_CORE = "(EngineCore pid=8) INFO 11-27 01:02:03 "
_GRAPHS = "Capturing CUDA graphs ({}):  {}%|#####     | 1/2 [00:01<00:01,  1.00s/it]"

BEFORE_COMPILING = (
    f"{_API}[utils.py:1] non-default args: {{}}",
    f"{_API}[model.py:1] Resolved architecture: Gemma4ForCausalLM",
    f"{_API}[model.py:1] Using max model len 2048",
    f"{_CORE}[core.py:139] Initializing a V1 LLM engine (v0.33.0) with config: model='x'",
    f"{_CORE}[topk_topp_sampler.py:1] Using FlashInfer for top-p & top-k sampling.",
    f"{_CORE}[model_runner.py:399] Loading model from scratch...",
    "Loading safetensors checkpoint shards:   0% Completed | 0/1 [00:00<?, ?it/s]",
    "Loading safetensors checkpoint shards: 100% Completed | 1/1 [00:00<00:00,  9.11it/s]",
    f"{_CORE}[default_loader.py:1] Loading weights took 0.11 seconds",
    f"{_CORE}[model_runner.py:429] Model loading took 0.02 GiB memory and 8.123456 seconds",
    f"{_CORE}[monitor.py:40] Starting torch.compile",
    f"{_CORE}[backends.py:1125] Using cache directory: /c/torch_compile_cache for torch.compile",
    f"{_CORE}[backends.py:1188] Dynamo bytecode transform time: 4.21 s",
    f"{_CORE}[backends.py:417] Compiling a graph for compile range (1, 2048) takes 19.32 s",
    f"{_CORE}[monitor.py:62] torch.compile took 27.04 s in total",
    f"{_CORE}[monitor.py:91] Initial profiling/warmup run took 0.52 s",
)
KERNEL = (
    "2026-11-27 01:02:03,456 - INFO - core.py:594 - flashinfer.jit: Building JIT module sampling;"
    " this can take several minutes on first use."
)
AFTER_COMPILING = (
    _GRAPHS.format("PIECEWISE", 0),
    _GRAPHS.format("PIECEWISE", 50),
    _GRAPHS.format("PIECEWISE", 100),
    _GRAPHS.format("FULL", 50),
    f"{_CORE}[model_runner.py:1164] Graph capturing finished in 18 secs, took 0.05 GiB",
    f"{_CORE}[gpu_worker.py:773] Available KV cache memory: 120.5 GiB",
    f"{_CORE}[kv_cache_utils.py:1] GPU KV cache size: 9,999,999 tokens",
    f"{_CORE}[kernel_warmup.py:179] JIT kernel warmup starting.",
    "JIT kernel warmup (12 compile keys):  50%|#####     | 2/4 [00:01<00:01,  1.00kernel/s]",
    f"{_CORE}[kernel_warmup.py:192] JIT kernel warmup finished in 2.10s.",
    _GRAPHS.format("PIECEWISE", 100),
    _GRAPHS.format("FULL", 100),
    f"{_CORE}[model_runner.py:1164] Graph capturing finished in 6 secs, took 0.31 GiB",
    f"{_CORE}[core.py:405] init engine (profile, create kv cache, warmup model) took 58.10 s",
)
READY = f"{_API}[api_server.py:1] Starting vLLM server on unix:/somewhere"
CARD_START = (*BEFORE_COMPILING, KERNEL, *AFTER_COMPILING, READY)
