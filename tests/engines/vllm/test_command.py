"""The words and the environment of a worker, from a plan."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from app.documents.reading.limits import Limits
from engines.hardware.values import Cpu, Hardware, Memory
from engines.models.checkpoint import read_checkpoint
from engines.types import VllmOptions, VllmPlan
from engines.vllm.command import WorkerCommand, WorkerPlace, command
from engines.vllm.memory import compile_jobs
from engines.vllm.provision.home import Installed
from engines.vllm.scratch import driver_library, link_driver, make_scratch
from engines.vllm.speculation import SpeculativeConfig
from tests.engines.vllm.faked import PLAN, TARGET

OUTSIDE = {
    "PATH": "/bin",
    "CUDA_HOME": "/usr/local/cuda-11",
    "PYTHONPATH": "/a",
    "LD_LIBRARY_PATH": "/b",
    "HF_TOKEN": "secret",
}


def made(
    plan: VllmPlan = PLAN,
    profile: str = "cuda",
    place: WorkerPlace | None = None,
    drafts: SpeculativeConfig | None = None,
    share: float | None = 0.8,
    cards: tuple[int, ...] = (),
    jobs: int = 1,
    host_variables: Mapping[str, str] = MappingProxyType(OUTSIDE),
) -> WorkerCommand:
    installed = Installed("0.33.0", profile, Path("/env"))  # type: ignore[arg-type]
    place = place or WorkerPlace(Path("/data"), Path("/data/run/x"), Path("/data/run/x/w.sock"))
    checkpoint = read_checkpoint(TARGET)
    return command(
        plan,
        installed,
        place,
        checkpoint,
        drafts=drafts,
        share=share,
        card_numbers=cards,
        host_variables=host_variables,
        jobs=jobs,
    )


def after(words: tuple[str, ...], word: str) -> str:
    return words[words.index(word) + 1]


def test_a_plain_plan() -> None:
    words = made(replace(PLAN, context=4096, parallel=4)).words
    assert words[0] == "/env/bin/python"
    assert str(TARGET) in words
    assert after(words, "--uds") == "/data/run/x/w.sock"
    assert after(words, "--max-model-len") == "4096"
    assert after(words, "--max-num-seqs") == "4"
    assert after(words, "--gpu-memory-utilization") == "0.8"
    assert "--language-model-only" in words, "nothing shows it pictures"
    assert after(words, "--generation-config") == "vllm"
    unasked = {"--kv-cache-dtype", "--tensor-parallel-size", "--speculative-config"}
    unasked |= {"--enforce-eager", "--enable-lora", "--per-request-spec-decode-metrics"}
    assert not unasked & {*words}


def test_pictures_are_let_in_where_they_are_wanted() -> None:
    words = made(replace(PLAN, options=VllmOptions(pictures=True))).words
    assert "--language-model-only" not in words
    assert after(words, "--limit-mm-per-prompt") == '{"image": 8, "video": 0, "audio": 0}'


def test_sounds_are_let_in_where_they_are_wanted_up_to_those_of_a_message() -> None:
    told = made(replace(PLAN, options=VllmOptions(sounds=True)))
    assert "--language-model-only" not in told.words
    assert after(told.words, "--limit-mm-per-prompt") == '{"image": 0, "video": 0, "audio": 8}'
    both = made(replace(PLAN, options=VllmOptions(pictures=True, sounds=True))).words
    assert after(both, "--limit-mm-per-prompt") == '{"image": 8, "video": 0, "audio": 8}'
    assert told.environment["VLLM_MAX_AUDIO_CLIP_FILESIZE_MB"] == str(Limits().sound_bytes >> 20)
    assert float(told.environment["VLLM_MAX_AUDIO_DECODE_DURATION_S"]) == Limits().sound_seconds
    assert not any(name.startswith("VLLM_MAX_AUDIO") for name in made().environment)


def test_the_key_is_in_the_environment_only() -> None:
    place = WorkerPlace(Path("/data"), Path("/data/run/x"), port=20001, key="s3cret")
    told = made(place=place)
    assert after(told.words, "--port") == "20001"
    assert after(told.words, "--host") == "127.0.0.1"
    assert told.environment["VLLM_API_KEY"] == "s3cret"
    assert "s3cret" not in " ".join(told.words)


def test_the_environment_is_its_own() -> None:
    environment = made().environment
    assert environment["PATH"] == "/env/bin:/env/cuda/bin:/bin", "its own tools come first"
    assert environment["CUDA_HOME"] == "/env/cuda"
    assert "CUDA_HOME" not in made(profile="cpu").environment
    assert not {"PYTHONPATH", "LD_LIBRARY_PATH", "HF_TOKEN"} & {*environment}
    assert environment["VLLM_NO_USAGE_STATS"] == environment["HF_HUB_OFFLINE"] == "1"
    assert environment["VLLM_HOST_IP"] == "127.0.0.1"


def test_a_worker_on_a_processor_finds_the_patches_of_vllm() -> None:
    """Without them, vLLM's sampler ends the process when drafts meet a temperature."""
    patches = Path(made(profile="cpu").environment["PYTHONPATH"])
    assert (patches / "sitecustomize.py").is_file()


def test_all_that_is_compiled_stays_for_the_next_start() -> None:
    """The scratch folder, which is also that for temporary files, is deleted with the worker."""
    environment = made().environment
    ends = ("_ROOT", "_DIR", "_HOME", "_CACHE", "_BASE", "CACHE_PATH")
    caches = {
        name: value
        for name, value in environment.items()
        if name.endswith(ends) and name not in {"CUDA_HOME", "VLLM_RPC_BASE_PATH"}
    }
    assert caches.keys() >= {
        "VLLM_CACHE_ROOT",
        "TRITON_CACHE_DIR",
        "TORCHINDUCTOR_CACHE_DIR",
        "FLASHINFER_WORKSPACE_BASE",
        "CUDA_CACHE_PATH",
        "FLASH_ATTENTION_CUTE_DSL_CACHE_DIR",
        "CUTE_DSL_CACHE_DIR",
        "DG_JIT_CACHE_DIR",
        "TILELANG_CACHE_DIR",
        "HUMMING_CACHE_DIR",
        "QUACK_CACHE_DIR",
        "TVM_FFI_CACHE_DIR",
    }
    assert all(value.startswith("/data/caches/") for value in caches.values())
    assert len(set(caches.values())) == len(caches), "none writes among another's files"
    assert environment["FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED"] == "1", "it is off by itself"
    assert environment["TMPDIR"].startswith("/data/run/")


def test_kernels_are_compiled_by_as_many_processes_as_there_is_memory_for() -> None:
    assert made().environment["MAX_JOBS"] == "1"
    assert made(jobs=6).environment["MAX_JOBS"] == "6"
    assert made(jobs=6, host_variables=OUTSIDE | {"MAX_JOBS": "2"}).environment["MAX_JOBS"] == "2"
    cpu = Cpu("made up", 16, 32, 32, 16, 16)

    def jobs(free_gib: int, *, in_wsl: bool = False) -> int:
        memory = Memory(64 << 30, free_gib << 30)
        return compile_jobs(Hardware("Linux", cpu, memory), in_wsl=in_wsl)

    assert (jobs(1), jobs(8), jobs(60), jobs(500)) == (1, 2, 15, 32)
    assert jobs(16, in_wsl=True) == 2


@pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only")
def test_kernels_can_be_linked_with_the_driver_s_library(tmp_path: Path) -> None:
    """The driver has no libcuda.so, only the file that programs load."""
    driver = tmp_path / "driver" / "libcuda.so.1"
    driver.parent.mkdir()
    source = tmp_path / "driver.c"
    source.write_text("int cuInit(unsigned flags) { return 0; }\n")
    build(driver, source, "-Wl,-soname,libcuda.so.1")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    link_driver(scratch, driver)
    place = WorkerPlace(tmp_path, scratch, scratch / "w.sock")
    kernel = tmp_path / "kernel.c"
    kernel.write_text("int cuInit(unsigned flags);\nint start(void) { return cuInit(0); }\n")
    library = tmp_path / "kernel.so"
    environment = made(place=place).environment
    build(library, kernel, "-Wl,--no-undefined", "-lcuda", library_path=environment["LIBRARY_PATH"])
    assert b"libcuda.so.1\0" in library.read_bytes(), "what is loaded is the driver's"


@pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only")
def test_without_a_driver_there_is_nothing_to_link(tmp_path: Path) -> None:
    link_driver(tmp_path, None)
    assert not list(tmp_path.iterdir())
    made_folder, _ = make_scratch(tmp_path / "engine")
    assert (made_folder / "libcuda.so").exists() == (driver_library() is not None)


def build(out: Path, source: Path, *words: str, library_path: str = "") -> None:
    """Build a shared library.

    Args:
        out: The file to write.
        source: The source.
        words: More arguments of the compiler.
        library_path: Another path where the linker looks.
    """
    command = ["cc", "-shared", "-fPIC", str(source), *words, "-o", str(out)]
    subprocess.run(command, env=os.environ | {"LIBRARY_PATH": library_path}, check=True)
