"""Builds the command line and the environment of a worker from a plan. Pure.

Source: vLLM 0.32 and 0.33, `vllm serve --help=all`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from engines.media import MOST_SECONDS
from engines.models.checkpoint import Checkpoint
from engines.openai.unused import MIN_P_WITH_MTP
from engines.sentences import N_
from engines.types import Adapter, KvType, VllmPlan
from engines.vllm.memory import GIB, cpu_cache_gib
from engines.vllm.parsing import Parsing, parsing_of
from engines.vllm.provision.home import TOOLKIT, Installed
from engines.vllm.speculation import SpeculativeConfig

KEY: Final = "VLLM_API_KEY"
MODEL: Final = "model"
"""The name under which the worker serves its model."""

MOST_PICTURES: Final = 8
MOST_SOUNDS: Final = 8
"""Largest number of pictures, and of sounds, in one request."""


CARD_VARIABLES: Final = (
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
    "RAY_ADDRESS", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME",
)  # fmt: skip
"""Variables that control which hardware a worker uses."""

_INHERITED: Final = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "CC", "CXX", "MAX_JOBS", *CARD_VARIABLES,
)  # fmt: skip
"""Variables taken from Hearth's environment; its library paths do not suit another Python."""

_SOUNDS: Final[Mapping[str, str]] = {
    "VLLM_MAX_AUDIO_CLIP_FILESIZE_MB": "64",
    "VLLM_MAX_AUDIO_DECODE_DURATION_S": str(MOST_SECONDS),
    # An hour of one channel at 44.1 kHz, in 32 bits.
    "VLLM_MAX_AUDIO_DECODE_BYTES": str(MOST_SECONDS * 44_100 * 4),
}
"""Limits for sounds in vLLM, set to those of a message in Hearth."""

_CACHES: Final[Mapping[str, str]] = {
    "VLLM_CACHE_ROOT": "vllm",
    "VLLM_CONFIG_ROOT": "vllm-config",
    "HF_HOME": "hub",
    "XDG_CACHE_HOME": "other",
    "XDG_CONFIG_HOME": "config",
    "TRITON_CACHE_DIR": "triton",
    "TORCHINDUCTOR_CACHE_DIR": "inductor",
    "FLASHINFER_WORKSPACE_BASE": "flashinfer",
    "CUDA_CACHE_PATH": "cuda",
    # Without the next three, kernels go to the temporary folder, which is removed with the worker …
    "FLASH_ATTENTION_CUTE_DSL_CACHE_DIR": "flash-attention",
    "CUTE_DSL_CACHE_DIR": "cute",
    "QUACK_CACHE_DIR": "quack",
    # … or to the user's home.
    "DG_JIT_CACHE_DIR": "deep-gemm",
    "HUMMING_CACHE_DIR": "humming",
    "HUMMING_TMP_DIR": "humming-modules",
    "MINFER_FMHA_CACHE_DIR": "minfer",
    "MM_SPARSE_ATTN_AOT_CACHE": "sparse-attention",
    "TILELANG_CACHE_DIR": "tilelang",
    "TVM_FFI_CACHE_DIR": "tvm-ffi",
}
"""Folders in which vLLM and its libraries keep compiled code, by the variable that names them.

Source: their wheels, as locked with vLLM 0.33.
"""

_PATCHES: Final = Path(__file__).with_name("patches")
_SMALL: Final = 1_000_000_000


@dataclass(frozen=True)
class WorkerPlace:
    """The address and folders of a worker: a socket in a private folder, or a port with a key.

    Attributes:
        folder: Folder for caches and the log, inside Hearth's own folder.
        scratch: Private folder for this worker's processes; its path has to be short.
        socket: Socket that it listens on, or None.
        port: Port that it listens on without a socket.
        key: Key that requests to the port need.
    """

    folder: Path
    scratch: Path
    socket: Path | None = None
    port: int = 0
    key: str = field(default="", repr=False)

    @property
    def base(self) -> str:
        """Base URL for requests; its host is a placeholder if the worker listens on a socket."""
        return "http://worker" if self.socket is not None else f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class WorkerCommand:
    """A worker's command line and environment.

    Attributes:
        words: The command line; contains no secrets.
        environment: The complete environment.
        notes: Differences from the plan, one sentence each.
        parsing: How vLLM separates reasoning and tool calls from the answer.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    notes: tuple[str, ...] = ()
    parsing: Parsing = field(default_factory=Parsing)


def command(
    plan: VllmPlan,
    installed: Installed,
    place: WorkerPlace,
    checkpoint: Checkpoint,
    *,
    drafts: SpeculativeConfig | None,
    share: float | None,
    card_numbers: Sequence[int],
    host_variables: Mapping[str, str],
    spare: int | None = None,
    jobs: int = 1,
    reach: Callable[[Path], str] = Path.as_posix,
) -> WorkerCommand:
    """Build a worker's command line and environment from a plan.

    The paths in `installed` and `place` have to be those of the system that the worker runs on.

    Args:
        share: Share of the cards' memory; see `memory_share`.
        card_numbers: Numbers of the cards in the driver's order.
        host_variables: Environment of processes on the worker's system.
        spare: Bytes of RAM for the KV cache, on a processor.
        jobs: Number of compilers that can run at once.
        reach: Translates a path of this computer into one for the worker.
    """
    cpu = installed.profile == "cpu"
    kv_words, notes = _kv_precision(plan.kv_type, cpu)
    parsing = parsing_of(checkpoint.path)
    words = [
        *installed.runs, reach(plan.model),
        "--served-model-name", MODEL,
        *_listening(place),
        "--max-model-len", str(plan.context),
        "--max-num-seqs", str(max(1, plan.parallel)),
        "--disable-uvicorn-access-log",
        *_media(plan),
        "--enable-per-request-metrics",
        "--enable-prompt-tokens-details",
        # Hearth sends the sampling settings with each request, so the model's own are ignored; its
        # end tokens still count.
        "--generation-config", "vllm",
        *parsing.words,
        *kv_words,
    ]  # fmt: skip
    words += _on_processor(checkpoint) if cpu else _on_cards(plan, share)
    words += _adapters(plan, reach)
    if not plan.options.prefix_cache:
        words.append("--no-enable-prefix-caching")
    if plan.options.nodes > 1:
        words += ["--pipeline-parallel-size", str(plan.options.nodes)]
        words += ["--distributed-executor-backend", "ray"]
    if drafts is not None:
        words += ["--speculative-config", json.dumps(drafts.config(reach))]
        words += ["--per-request-spec-decode-metrics", "summary"]
        notes.append(MIN_P_WITH_MTP)
    environment = _environment(plan, place, checkpoint, cpu, card_numbers, host_variables, spare)
    environment |= _tools(installed, environment.get("PATH", ""), place.scratch)
    environment.setdefault("MAX_JOBS", str(jobs))
    if cpu:
        environment["PYTHONPATH"] = reach(_PATCHES)
    return WorkerCommand(tuple(words), environment, tuple(notes), parsing)


def _media(plan: VllmPlan) -> list[str]:
    """Allow only the media in the plan, because their processors cost memory and minutes."""
    if not plan.options.pictures and not plan.options.sounds:
        return ["--language-model-only"]
    # vLLM reserves memory for the largest request that is allowed.
    most = {
        "image": MOST_PICTURES if plan.options.pictures else 0,
        "video": 0,
        "audio": MOST_SOUNDS if plan.options.sounds else 0,
    }
    words = ["--limit-mm-per-prompt", json.dumps(most)]
    if plan.options.sounds:
        # Otherwise it first tries the system's FFmpeg, which can be missing or of any version.
        words += ["--media-io-kwargs", json.dumps({"audio": {"audio_backend": "soundfile"}})]
    return words


def _listening(place: WorkerPlace) -> list[str]:
    if place.socket is not None:
        return ["--uds", place.socket.as_posix()]
    return ["--host", "127.0.0.1", "--port", str(place.port)]


def _kv_precision(kv_type: KvType, cpu: bool) -> tuple[list[str], list[str]]:
    if kv_type == "f16":
        return [], []
    if cpu:
        return [], [N_("On the processor, the KV cache of vLLM always has 16 bits.")]
    return (
        ["--kv-cache-dtype", "fp8"],
        [N_("The KV cache of vLLM has 8 bits (fp8), even if fewer are set.")],
    )


def _on_processor(checkpoint: Checkpoint) -> list[str]:
    # Compiling takes longer than it saves in a chat. A small model runs in 32 bits, which is faster
    # on processors without 16-bit arithmetic, and which keeps close logits apart.
    small = checkpoint.weight_bytes < _SMALL and checkpoint.precision in {"bf16", "fp16", "fp32"}
    # When vLLM reads a prompt in pieces, it samples after each one and then rewinds the random
    # numbers. It cannot rewind a processor's, so a request with a seed would crash the worker.
    return [
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        *("--dtype", "float32" if small else "auto"),
    ]


def _on_cards(plan: VllmPlan, share: float | None) -> list[str]:
    words = []
    if share is not None:
        words += ["--gpu-memory-utilization", f"{math.floor(share * 1000) / 1000:g}"]
    if plan.options.cards > 1:
        words += ["--tensor-parallel-size", str(plan.options.cards)]
    if plan.options.offload_bytes:
        words += ["--cpu-offload-gb", f"{plan.options.offload_bytes / GIB:.2f}"]
    if plan.options.batched:
        words += ["--max-num-batched-tokens", str(plan.options.batched)]
    return words


def _adapters(plan: VllmPlan, reach: Callable[[Path], str]) -> list[str]:
    if not plan.adapters:
        return []
    words = ["--enable-lora", "--max-loras", str(len(plan.adapters)), "--lora-modules"]
    words += [f"{adapter.name}={reach(adapter.path)}" for adapter in plan.adapters]
    return [*words, "--max-lora-rank", str(max_rank(plan.adapters))]


def max_rank(adapters: Sequence[Adapter]) -> int:
    """Return the rank that a worker needs room for; 0 without adapters."""
    return max((_rank(adapter.path) for adapter in adapters), default=0)


def _rank(adapter: Path) -> int:
    """Return the adapter's rank, rounded up to one that vLLM supports.

    It is 16, vLLM's default, if the adapter's files do not give a rank.
    """
    try:
        config = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
        rank = int(config["r"])
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, RecursionError):
        return 16
    return next((size for size in (1, 8, 16, 32, 64, 128, 256, 320, 512) if size >= rank), 512)


def _tools(installed: Installed, path: str, scratch: Path) -> dict[str, str]:
    """Put the environment's own compilers and tools before those of the system.

    FlashInfer compiles kernels with the nvcc and ninja of the environment; another CUDA's can fail.

    Args:
        path: Value of PATH so far.
        scratch: The worker's folder, in which `link_driver` has linked the driver's library.
    """
    folders = [installed.folder / "bin"]
    variables = {}
    if installed.profile == "cuda":
        toolkit = installed.folder / TOOLKIT
        folders.append(toolkit / "bin")
        variables = {
            "CUDA_HOME": toolkit.as_posix(),
            "LIBRARY_PATH": ":".join([(toolkit / "lib").as_posix(), scratch.as_posix()]),
        }
    return variables | {"PATH": ":".join([*(folder.as_posix() for folder in folders), path])}


def _environment(
    plan: VllmPlan,
    place: WorkerPlace,
    checkpoint: Checkpoint,
    cpu: bool,
    card_numbers: Sequence[int],
    host_variables: Mapping[str, str],
    spare: int | None,
) -> dict[str, str]:
    """Build the environment: offline, without telemetry, and with all caches in Hearth's folder."""
    caches = place.folder / "caches"
    environment = {name: host_variables[name] for name in _INHERITED if name in host_variables}
    environment |= {
        "TMPDIR": place.scratch.as_posix(),
        "VLLM_RPC_BASE_PATH": place.scratch.as_posix(),
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        # This cache is off by default, and Hopper then compiles for 18 s at each start.
        "FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED": "1",
    } | {name: (caches / folder).as_posix() for name, folder in _CACHES.items()}
    if plan.options.nodes == 1:
        environment["VLLM_HOST_IP"] = "127.0.0.1"
    if place.key:
        environment[KEY] = place.key
    if plan.adapters and place.socket is not None:
        # This opens endpoints that load adapters, one of them without a key, so not on a port.
        environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "1"
    if plan.options.sounds:
        environment |= _SOUNDS
    if cpu:
        space = cpu_cache_gib(checkpoint, plan.context, max(1, plan.parallel), spare)
        environment["VLLM_CPU_KVCACHE_SPACE"] = str(space)
    elif card_numbers:
        environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, card_numbers))
    return environment
