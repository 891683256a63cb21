"""The command line and the environment of a worker, from a plan: pure.

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
from engines.types import Adapter, KvType, LoadPlan
from engines.vllm.memory import GIB, cpu_cache_gib
from engines.vllm.parsing import Parsing, parsing_of
from engines.vllm.provision.home import TOOLKIT, Installed
from engines.vllm.speculation import SpeculativeConfig

KEY: Final = "VLLM_API_KEY"
MODEL: Final = "model"
"""The worker's name for its model."""

MOST_PICTURES: Final = 8
MOST_SOUNDS: Final = 8
"""Pictures and sounds in one request."""


OF_CARDS: Final = (
    "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "OMP_NUM_THREADS",
    "RAY_ADDRESS", "NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME",
)  # fmt: skip
"""The variables that say what a worker may compute with."""

_KEPT: Final = (
    "PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "CC", "CXX", "MAX_JOBS", *OF_CARDS,
)  # fmt: skip
"""The variables kept of Hearth's environment; paths to libraries are not for another Python."""

_SOUNDS: Final[Mapping[str, str]] = {
    "VLLM_MAX_AUDIO_CLIP_FILESIZE_MB": "64",
    "VLLM_MAX_AUDIO_DECODE_DURATION_S": str(MOST_SECONDS),
    # An hour of one channel at 44.1 kHz, in 32 bits.
    "VLLM_MAX_AUDIO_DECODE_BYTES": str(MOST_SECONDS * 44_100 * 4),
}
"""The largest sounds that vLLM takes: as large as those that may be in a message."""

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
    # Without these, kernels go to the folder for temporary files, which ends with the worker …
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
"""The folders in which vLLM and its libraries keep what they compile, by the variable that says so.

Source: their wheels as vLLM 0.33 is locked with them.
"""

_MENDING: Final = Path(__file__).with_name("mending")
_SMALL: Final = 1_000_000_000


@dataclass(frozen=True)
class WorkerPlace:
    """The address of a worker: a socket in a private folder, or a port with a key.

    folder: its caches and its log, in Hearth's own. scratch: a private folder of this worker
    alone, for what its processes tell each other; its path has to be short.
    """

    folder: Path
    scratch: Path
    socket: Path | None = None
    port: int = 0
    key: str = field(default="", repr=False)

    @property
    def base(self) -> str:
        """The address for requests; at a socket the host is a word that stands for it."""
        return "http://worker" if self.socket is not None else f"http://127.0.0.1:{self.port}"


@dataclass(frozen=True)
class WorkerCommand:
    """A worker's command line and environment.

    words: nothing in them is secret. environment: all of it. notes: what differs from the plan, a
    sentence each. parsing: how reasoning and tool calls are told from the answer.
    """

    words: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    notes: tuple[str, ...] = ()
    parsing: Parsing = field(default_factory=Parsing)


def command(
    plan: LoadPlan,
    installed: Installed,
    place: WorkerPlace,
    checkpoint: Checkpoint,
    *,
    drafts: SpeculativeConfig | None,
    share: float | None,
    card_numbers: Sequence[int],
    outside: Mapping[str, str],
    spare: int | None = None,
    jobs: int = 1,
    reach: Callable[[Path], str] = Path.as_posix,
) -> WorkerCommand:
    """Build a worker's command line from a plan.

    share: of the cards' memory, see `memory_share`. card_numbers: as the driver counts them. jobs:
    the number of compilers that may run at once.

    outside: what processes start with where the worker runs. reach: a path of this computer as it
    is called there; all others, of the environment and the place, are of there already. spare:
    bytes of the RAM for keys and values, on a processor.
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
        # What an answer is drawn with is sent with each request; where its tokens end is still
        # read from the model's file.
        "--generation-config", "vllm",
        *parsing.words,
        *kv_words,
    ]  # fmt: skip
    words += _on_processor(checkpoint) if cpu else _on_cards(plan, share, notes)
    words += _adapters(plan, reach)
    if not plan.prefix_cache:
        words.append("--no-enable-prefix-caching")
    if plan.nodes > 1:
        words += ["--pipeline-parallel-size", str(plan.nodes)]
        words += ["--distributed-executor-backend", "ray"]
    if drafts is not None:
        words += ["--speculative-config", json.dumps(drafts.config(reach))]
        words += ["--per-request-spec-decode-metrics", "summary"]
        notes.append(MIN_P_WITH_MTP)
    environment = _environment(plan, place, checkpoint, cpu, card_numbers, outside, spare)
    environment |= _tools(installed, environment.get("PATH", ""), place.scratch)
    environment.setdefault("MAX_JOBS", str(jobs))
    if cpu:
        environment["PYTHONPATH"] = reach(_MENDING)
    return WorkerCommand(tuple(words), environment, tuple(notes), parsing)


def _media(plan: LoadPlan) -> list[str]:
    """Let media be sent, where they are wanted: what reads them takes memory and minutes."""
    if not plan.pictures and not plan.sounds:
        return ["--language-model-only"]
    # vLLM keeps room for as many large ones as there may be in a request.
    most = {
        "image": MOST_PICTURES if plan.pictures else 0,
        "video": 0,
        "audio": MOST_SOUNDS if plan.sounds else 0,
    }
    words = ["--limit-mm-per-prompt", json.dumps(most)]
    if plan.sounds:
        # Else it tries FFmpeg first, which is the system's, if anybody's, and of any version.
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
        return [], ["On the processor, the KV cache of vLLM always has 16 bits."]
    return (
        ["--kv-cache-dtype", "fp8"],
        ["The KV cache of vLLM has 8 bits (fp8), even if fewer are set."],
    )


def _on_processor(checkpoint: Checkpoint) -> list[str]:
    # Compiling takes longer than it saves in a chat. A small model is computed in 32 bits, which
    # processors without 16-bit arithmetic do faster, and which keeps near ties apart.
    small = checkpoint.weight_bytes < _SMALL and checkpoint.precision in {"bf16", "fp16", "fp32"}
    # Where a prompt is read in pieces, vLLM takes back what was drawn after each but the last; a
    # processor's random numbers cannot go back, and a request with a seed ends the worker.
    return [
        "--enforce-eager",
        "--no-enable-chunked-prefill",
        *("--dtype", "float32" if small else "auto"),
    ]


def _on_cards(plan: LoadPlan, share: float | None, notes: list[str]) -> list[str]:
    words = []
    if share is not None:
        words += ["--gpu-memory-utilization", f"{math.floor(share * 1000) / 1000:g}"]
    if plan.tensor_parallel > 1:
        words += ["--tensor-parallel-size", str(plan.tensor_parallel)]
    if plan.offload_bytes:
        words += ["--cpu-offload-gb", f"{plan.offload_bytes / GIB:.2f}"]
    if plan.batched:
        words += ["--max-num-batched-tokens", str(plan.batched)]
    if plan.experts_in_ram:
        notes.append("vLLM keeps all experts on the cards.")
    return words


def _adapters(plan: LoadPlan, reach: Callable[[Path], str]) -> list[str]:
    if not plan.adapters:
        return []
    words = ["--enable-lora", "--max-loras", str(len(plan.adapters)), "--lora-modules"]
    words += [f"{it.name}={reach(it.path)}" for it in plan.adapters]
    return [*words, "--max-lora-rank", str(max_rank(plan.adapters))]


def max_rank(adapters: Sequence[Adapter]) -> int:
    """Return the rank that a worker needs room for; 0 without adapters."""
    return max((_rank(it.path) for it in adapters), default=0)


def _rank(adapter: Path) -> int:
    """Return the next of the ranks that vLLM has room for; 16, its default, where none is told."""
    try:
        told = json.loads((adapter / "adapter_config.json").read_text(encoding="utf-8"))
        rank = int(told["r"])
    except (OSError, ArithmeticError, ValueError, LookupError, TypeError, RecursionError):
        return 16
    return next((it for it in (1, 8, 16, 32, 64, 128, 256, 320, 512) if it >= rank), 512)


def _tools(installed: Installed, path: str, scratch: Path) -> dict[str, str]:
    """Put the environment's own compilers and tools before those of the system.

    FlashInfer compiles kernels with its nvcc and ninja; with those of another CUDA that may fail.
    scratch: the worker's folder, where `link_driver` has put the driver's library for the linker.
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
    return variables | {"PATH": ":".join([*(it.as_posix() for it in folders), path])}


def _environment(
    plan: LoadPlan,
    place: WorkerPlace,
    checkpoint: Checkpoint,
    cpu: bool,
    card_numbers: Sequence[int],
    outside: Mapping[str, str],
    spare: int | None,
) -> dict[str, str]:
    """Build the environment: offline, silent, and with all caches in Hearth's folder."""
    caches = place.folder / "caches"
    environment = {name: outside[name] for name in _KEPT if name in outside}
    environment |= {
        "TMPDIR": place.scratch.as_posix(),
        "VLLM_RPC_BASE_PATH": place.scratch.as_posix(),
        "PYTHONNOUSERSITE": "1",
        "PYTHONUNBUFFERED": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        # It is off unless asked for, and then compiles for 18 s at each start on Hopper.
        "FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED": "1",
    } | {name: (caches / folder).as_posix() for name, folder in _CACHES.items()}
    if plan.nodes == 1:
        environment["VLLM_HOST_IP"] = "127.0.0.1"
    if place.key:
        environment[KEY] = place.key
    if plan.adapters and place.socket is not None:
        # Opens addresses that load adapters, and one of them asks for no key: not at a port.
        environment["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "1"
    if plan.sounds:
        environment |= _SOUNDS
    if cpu:
        space = cpu_cache_gib(checkpoint, plan.context, max(1, plan.parallel), spare)
        environment["VLLM_CPU_KVCACHE_SPACE"] = str(space)
        if plan.threads:
            environment.setdefault("OMP_NUM_THREADS", str(plan.threads))
    elif card_numbers:
        environment["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
        environment["CUDA_VISIBLE_DEVICES"] = ",".join(map(str, card_numbers))
    return environment
