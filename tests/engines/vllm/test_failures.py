"""Errors from vLLM's log of a failure. Lines marked seen were seen on a processor."""

from __future__ import annotations

import pytest

from engines.vllm.failures import (
    Circumstances,
    cause,
    crash_failure,
    stalled,
    start_failure,
    too_many_crashes,
)

AROUND = Circumstances("gemma", 32768, ("blender 3.1 GB",))
GENERAL = "(APIServer pid=1) RuntimeError: Engine core initialization failed. See root cause above."
HARMLESS = "(APIServer pid=1) WARNING 11-21 [x.py:1] OSError: [Errno 24] is harmless here"

ROWS = [
    # The line of the log, the error's code, the action's kind and value, a word of the error
    (
        (
            "(EngineCore pid=2) ERROR [core.py:9] ValueError: To serve at least one request with"
            " the model's max seq len (32768), (4.0 GiB KV cache is needed, which is larger"
            " than the"
            " available KV cache memory (1.5 GiB). Based on the available memory, the estimated"
            " maximum model length is 12345."
        ),
        "memory",
        "shorter_context",
        12288,
        "12,288",
    ),
    # seen
    (
        (
            "(EngineCore pid=2) ERROR [core.py:9] ValueError: No available memory for the cache"
            " blocks. Try increasing `gpu_memory_utilization` when initializing the engine."
        ),
        "memory",
        "free_memory",
        "",
        "Its weights take all",
    ),
    # seen
    (
        (
            "(EngineCore pid=2) ERROR [core.py:9] ValueError: Cannot auto-fit max_model_len: not"
            " enough GPU memory available"
        ),
        "memory",
        "free_memory",
        "",
        "weights",
    ),
    # seen
    (
        (
            "(Worker pid=2) ERROR [x.py:9] ValueError: Available memory on node 0 (15.02/17.34"
            " GiB) on startup is less than requested memory for kv (100.0 GiB)."
        ),
        "memory",
        "shorter_context",
        3840,
        "3,840",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [core.py:9] ValueError: Free memory on device cuda:0"
            " (10.1/23.6 GiB) on startup is less than desired GPU memory utilization (0.92,"
            " 21.7 GiB)."
        ),
        "memory",
        "free_memory",
        "",
        "blender 3.1 GB",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [core.py:9] torch.OutOfMemoryError: CUDA out of memory."
            " Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 23.6 GiB"
        ),
        "memory",
        "shorter_context",
        16384,
        "Tried to allocate",
    ),
    (
        (
            "(APIServer pid=1) RuntimeError: The NVIDIA driver on your system is too old"
            " (found version"
            " 12080). Please update your GPU driver"
        ),
        "engine_unavailable",
        "install",
        "driver",
        "12.8",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] ValueError: The quantization method fp8 is not"
            " supported for the current GPU. Minimum capability: 89. Current capability: 75."
        ),
        "engine_unavailable",
        None,
        None,
        "7.5",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] ValueError: Bfloat16 is only supported on GPUs"
            " with compute capability of at least 8.0. Your Tesla T4 GPU has compute"
            " capability 7.5."
        ),
        "engine_unavailable",
        None,
        None,
        "7.5",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] ValueError: type fp8e4nv not supported in this"
            " architecture. The supported fp8 dtypes are ('fp8e4b15', 'fp8e5')"
        ),
        "engine_unavailable",
        "open_settings",
        "kv_type",
        "8-bit KV cache",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] ValueError: FP8 KV cache is not supported by the"
            " Triton attention backend on NVIDIA RTX 3090 (compute capability 8.6)"
        ),
        "engine_unavailable",
        "open_settings",
        "kv_type",
        "8-bit KV cache",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] torch.AcceleratorError: CUDA error: no kernel"
            " image is available for execution on the device"
        ),
        "engine_unavailable",
        "install",
        "vllm",
        "kernel",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] RuntimeError: Failed to find C compiler. Please"
            " specify via CC environment variable."
        ),
        "engine_unavailable",
        "install",
        "compiler",
        "compiler",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] ValueError: Chunked MM input disabled but"
            " max_tokens_per_mm_item (2496) is larger than max_num_batched_tokens (2048)."
        ),
        "engine_failed",
        None,
        None,
        "2,560",
    ),
    (
        "main.c:1:10: fatal error: Python.h: No such file or directory",
        "engine_unavailable",
        "install",
        "compiler",
        "python3-dev",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] RuntimeError: Could not find nvcc and default"
            " cuda_home='/usr/local/cuda' doesn't exist"
        ),
        "engine_unavailable",
        "install",
        "vllm",
        "install it again",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:9] FileNotFoundError: [Errno 2] No such file or"
            " directory: 'ninja'"
        ),
        "engine_unavailable",
        "install",
        "vllm",
        "ninja",
    ),
    # seen
    (
        "(APIServer pid=1) OSError: [Errno 98] Address already in use",
        "engine_failed",
        None,
        None,
        "port",
    ),
    (
        (
            "(APIServer pid=1) ValidationError: Model architectures ['NewForCausalLM'] are not"
            " supported for now."
        ),
        "model_architecture",
        "install",
        "vllm",
        "NewForCausalLM",
    ),
    (
        (
            "(APIServer pid=1) ValueError: The checkpoint you are trying to load has model type"
            " `brandnew` but Transformers does not recognize this architecture."
        ),
        "model_architecture",
        "install",
        "vllm",
        "brandnew",
    ),
    (
        (
            "(APIServer pid=1)  Value error, User-specified max_model_len (40000) is greater"
            " than the"
            " derived max_model_len (max_position_embeddings=32768.0 or model_max_length=None)"
        ),
        "context",
        "shorter_context",
        32768,
        "32,768",
    ),
    # seen
    (
        "(APIServer pid=1) LocalEntryNotFoundError: Cannot find an appropriate cached snapshot",
        "model_damaged",
        None,
        None,
        "not complete",
    ),
    (
        (
            "(APIServer pid=1)  Value error, Total number of attention heads (10) must be divisible"
            " by tensor parallel size (4)."
        ),
        "engine_failed",
        "open_settings",
        "vllm_cards",
        "10 attention",
    ),
    (
        (
            "(APIServer pid=1)  Value error, World size (2) is larger than the number of"
            " available GPUs"
            " (1) in this node."
        ),
        "engine_failed",
        "open_settings",
        "vllm_cards",
        "not 2 graphics",
    ),
    (
        "(APIServer pid=1) ModuleNotFoundError: No module named 'ray'",
        "engine_failed",
        "open_settings",
        "vllm_nodes",
        "--profile cuda-ray",
    ),
    (
        "(APIServer pid=1) RuntimeError: Could not find any running Ray instance.",
        "engine_failed",
        "open_settings",
        "vllm_nodes",
        "Start Ray on each",
    ),
    (
        (
            "(EngineCore pid=2) ERROR [x.py:1] ValueError: LoRA rank 64 is greater than"
            " max_lora_rank 16."
        ),
        "engine_failed",
        "open_settings",
        "vllm_adapters",
        "LoRA rank 64",
    ),
]


@pytest.mark.parametrize(("line", "code", "kind", "value", "word"), ROWS)
def test_what_is_known(line: str, code: str, kind: str | None, value: object, word: str) -> None:
    error = start_failure([HARMLESS, line, GENERAL], AROUND)
    assert error.code == code
    assert (error.action.kind if error.action else None) == kind
    assert (error.action.value if error.action else None) == value
    assert word in f"{error.what} {error.why} {error.do} {error.terminal}"
    for part in (error.what, error.why, error.do):
        assert part.endswith((".", ";", "…"))


def test_what_is_unknown_is_quoted_by_its_cause() -> None:
    error = start_failure(
        [
            HARMLESS,
            "(Worker pid=3) ERROR [w.py:1] Traceback (most recent call last):",
            "(Worker pid=3) ERROR [w.py:1] KeyError: 'layers.7'",
            "(EngineCore pid=2) ERROR [core.py:9] RuntimeError: something after that",
            GENERAL,
        ],
        AROUND,
    )
    assert error.why == "It says: 'layers.7'."


def test_an_empty_log_is_no_riddle() -> None:
    assert cause([]) == "It ended, and wrote no error."
    assert start_failure([], AROUND).what


@pytest.mark.parametrize(
    ("code", "word"),
    [(-9, "memory runs out"), (137, "memory runs out"), (-11, "signal 11"), (3, "exit code 3")],
)
def test_without_an_error_it_is_said_how_it_ended(code: int, word: str) -> None:
    progress = "(EngineCore pid=2) INFO 11-21 15:31:16 [core.py:9] Starting to load model x"
    for lines in ([], [progress], [progress, GENERAL]):
        error = start_failure(lines, AROUND, code)
        assert word in error.why
        assert "Starting to load" not in error.why, "a report of progress is no cause"
    assert word in crash_failure([progress], AROUND, code).why
    told = start_failure([progress, "bash: 7: something odd"], AROUND, code).why
    assert word in told
    assert "something odd" in told


def test_what_the_first_process_says_of_another_s_end_counts() -> None:
    said = GENERAL + " Failed core proc(s): {'EngineCore_DP0': -9}"
    assert "memory runs out" in start_failure([said], AROUND, 1).why


def test_a_crash_and_its_like() -> None:
    lost = crash_failure(["(Worker) torch.OutOfMemoryError: CUDA out of memory. x"], AROUND)
    assert lost.code == "memory"
    assert "kept" in crash_failure([], AROUND).do
    assert "because memory ran out" in crash_failure([HARMLESS, GENERAL], AROUND).why
    line = "(Worker pid=3) ERROR 11-21 [w.py:1] RuntimeError: index 7 is out"
    said = crash_failure([line], AROUND)
    assert said.why == "It says: index 7 is out."
    assert "10 minutes" in stalled("gemma", 600, computes=False).why
    assert "120 minutes" in stalled("gemma", 7200, computes=True).why
    assert "3 times" in too_many_crashes(3).why


NINJA = (
    "(EngineCore pid=2) ERROR 11-27 [core.py:9] RuntimeError: Ninja build failed. Ninja output:\n"
    "(EngineCore pid=2) ERROR 11-27 [core.py:9] ninja: Entering directory `/c/sampling'\n"
    "(EngineCore pid=2) ERROR 11-27 [core.py:9] FAILED: [code={code}] sampling.cuda.o\n"
    "(EngineCore pid=2) ERROR 11-27 [core.py:9] /env/cuda/bin/nvcc -DERROR -c sampling.cu\n"
    "(EngineCore pid=2) ERROR 11-27 [core.py:9] {said}\n"
    "(EngineCore pid=2) ERROR 11-27 [core.py:9] ninja: build stopped: subcommand failed."
)


@pytest.mark.parametrize(
    ("said", "code", "kind", "words"),
    [
        # The compiler's message, the error's code, the action's kind, words of the error; all seen
        # but the fifth and the last three
        (
            "sampling.cuh:20:10: fatal error: curand.h: No such file or directory",
            "engine_unavailable",
            "install",
            ("failed: curand.h: No such file", "install it again"),
        ),
        (
            (
                'sampling.cu(3): error: no instance of function template "f" matches the type\n'
                '1 error detected in the compilation of "sampling.cu".'
            ),
            "engine_unavailable",
            "install",
            ("no instance of function template", "install it again"),
        ),
        (
            (
                'cuda_toolkit.h:41:8: error: #error "CUDA compiler and CUDA toolkit headers are'
                ' incompatible, please check your include paths"'
            ),
            "engine_unavailable",
            "install",
            ("headers are incompatible", "Update vLLM"),
        ),
        (
            "nvcc fatal   : Unsupported gpu architecture 'compute_130a'",
            "engine_unavailable",
            "install",
            ("compute_130a", "Update vLLM"),
        ),
        (
            (
                "host_config.h:143:2: error: #error -- unsupported GNU version! gcc versions later"
                " than 15 are not supported! The nvcc flag can be used"
            ),
            "engine_unavailable",
            "install",
            ("later than 15", "g++-14"),
        ),
        (
            (
                "/usr/bin/ld: cannot find -lcuda: No such file or directory\n"
                "collect2: error: ld returned 1 exit status"
            ),
            "engine_unavailable",
            "install",
            ("libcuda.so.1", "NVIDIA driver"),
        ),
        (
            (
                "/usr/bin/ld: cannot find -lcudart: No such file or directory\n"
                "collect2: error: ld returned 1 exit status"
            ),
            "engine_unavailable",
            "install",
            ("cannot find -lcudart", "install it again"),
        ),
        ("Killed", "memory", "free_memory", ("memory ran out", "Close other programs")),
        (
            "virtual memory exhausted: Cannot allocate memory",
            "memory",
            "free_memory",
            ("memory ran out", "Close other programs"),
        ),
        (
            "g++: fatal error: Killed signal terminated program cc1plus",
            "memory",
            "free_memory",
            ("memory ran out", "MAX_JOBS=1"),
        ),
        (
            "nvcc error   : 'cicc' died due to signal 9 (Kill signal)",
            "memory",
            "free_memory",
            ("memory ran out", "Close other programs"),
        ),
        (
            "fatal error: error writing to /tmp/x.s: No space left on device",
            "engine_failed",
            None,
            ("is full", "Free some space"),
        ),
    ],
)
def test_why_a_kernel_was_not_compiled(
    said: str, code: str, kind: str | None, words: tuple[str, ...]
) -> None:
    lines = NINJA.format(
        code=1, said=said.replace("\n", "\n(EngineCore pid=2) ERROR ")
    ).splitlines()
    for error in (
        start_failure([HARMLESS, *lines, GENERAL], AROUND),
        crash_failure([HARMLESS, *lines, GENERAL], AROUND),
    ):
        assert error.code == code
        assert (error.action.kind if error.action else None) == kind
        for word in words:
            assert word in f"{error.what} {error.why} {error.do} {error.terminal}"


def test_a_compiler_that_says_nothing_is_named() -> None:
    error = start_failure([*NINJA.format(code=2, said="").splitlines(), GENERAL], AROUND)
    assert "Compiling it failed" in error.why
    assert "hearth engines install vllm" in error.terminal


@pytest.mark.parametrize(
    "line",
    [
        # seen, all four
        "(Worker pid=1) ERROR [x.py:9] ValueError: There is no module or parameter named 'l.99' in",
        "(Worker pid=1) RuntimeError: start (0) + length (512) exceeds dimension size (256).",
        "json.decoder.JSONDecodeError: Unterminated string starting at: line 1 column 20 (char 19)",
        "ValueError: Couldn't instantiate the backend tokenizer from one of:",
    ],
)
def test_files_that_are_none_of_this_model_s_are_said_to_be_damaged(line: str) -> None:
    error = start_failure((HARMLESS, line, GENERAL), AROUND)
    assert error.code == "model_damaged"
    assert len(error.why) < 200
    assert "ownload" in error.do
