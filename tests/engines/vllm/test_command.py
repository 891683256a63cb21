"""The words and the environment of a worker, from a plan."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from app.documents.limits import Limits
from engines.models.checkpoint import read_checkpoint
from engines.types import Adapter, LoadPlan
from engines.vllm.command import WorkerCommand, WorkerPlace, command
from engines.vllm.places import make_place
from engines.vllm.provision.home import Installed
from engines.vllm.speculation import SpeculativeConfig, speculation
from tests.engines.vllm.faked import PLAN, TARGET

OUTSIDE = {
    "PATH": "/bin",
    "CUDA_HOME": "/usr/local/cuda-11",
    "PYTHONPATH": "/a",
    "LD_LIBRARY_PATH": "/b",
    "HF_TOKEN": "secret",
}


def made(
    plan: LoadPlan = PLAN,
    profile: str = "cuda",
    place: WorkerPlace | None = None,
    drafts: SpeculativeConfig | None = None,
    share: float | None = 0.8,
    cards: tuple[int, ...] = (),
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
        outside=OUTSIDE,
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
    words = made(replace(PLAN, pictures=True)).words
    assert "--language-model-only" not in words
    assert after(words, "--limit-mm-per-prompt") == '{"image": 8, "video": 0, "audio": 0}'


def test_sounds_are_let_in_where_they_are_wanted_up_to_those_of_a_message() -> None:
    told = made(replace(PLAN, sounds=True))
    assert "--language-model-only" not in told.words
    assert after(told.words, "--limit-mm-per-prompt") == '{"image": 0, "video": 0, "audio": 8}'
    both = made(replace(PLAN, pictures=True, sounds=True)).words
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
    places = [value for name, value in environment.items() if name.endswith(("_ROOT", "_DIR"))]
    assert places
    assert all(value.startswith("/data/") for value in places)


def test_keys_and_values_in_fewer_bits() -> None:
    told = made(replace(PLAN, kv_type="q8_0"))
    assert after(told.words, "--kv-cache-dtype") == "fp8"
    assert "8 bits" in told.notes[0]
    on_cpu = made(replace(PLAN, kv_type="q4_0"), "cpu")
    assert "--kv-cache-dtype" not in on_cpu.words
    assert "16 bits" in on_cpu.notes[0]


def test_drafts() -> None:
    told = made(drafts=SpeculativeConfig("drafter", 3, Path("/assistant")))
    assert json.loads(after(told.words, "--speculative-config")) == {
        "method": "mtp",
        "num_speculative_tokens": 3,
        "model": "/assistant",
    }
    assert after(told.words, "--per-request-spec-decode-metrics") == "summary"


def test_the_text_drafts_without_another_model() -> None:
    told = made(drafts=speculation(read_checkpoint(TARGET), None, 4, lookup=True))
    assert after(told.words, "--speculative-config") == (
        '{"method": "ngram", "num_speculative_tokens": 4,'
        ' "prompt_lookup_min": 3, "prompt_lookup_max": 5}'
    )


def test_several_cards_and_computers() -> None:
    told = made(replace(PLAN, tensor_parallel=2, nodes=2), cards=(1, 3))
    assert after(told.words, "--tensor-parallel-size") == "2"
    assert after(told.words, "--pipeline-parallel-size") == "2"
    assert after(told.words, "--distributed-executor-backend") == "ray"
    assert told.environment["CUDA_VISIBLE_DEVICES"] == "1,3"
    assert told.environment["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID", "as the driver counts them"
    assert "VLLM_HOST_IP" not in told.environment, "the others have to find it"


def test_adapters(tmp_path: Path) -> None:
    (tmp_path / "adapter_config.json").write_text(json.dumps({"r": 24}))
    told = made(replace(PLAN, adapters=(Adapter("law", tmp_path), Adapter("art", Path("/art")))))
    at = told.words.index("--lora-modules")
    assert told.words[at + 1 : at + 3] == (f"law={tmp_path}", "art=/art")
    assert after(told.words, "--max-lora-rank") == "32"
    assert after(told.words, "--max-loras") == "2"


def test_adapters_come_and_go_at_a_socket_alone(tmp_path: Path) -> None:
    """At a port, vLLM opens an address for them that asks for no key."""
    variable = "VLLM_ALLOW_RUNTIME_LORA_UPDATING"
    plan = replace(PLAN, adapters=(Adapter("law", tmp_path),))
    assert made(plan).environment[variable] == "1"
    port = WorkerPlace(Path("/data"), Path("/data/run/x"), port=20001, key="x")
    assert variable not in made(plan, place=port).environment
    assert variable not in made().environment


def test_weights_in_ram_tokens_at_once_and_no_prefix_cache() -> None:
    plan = replace(PLAN, offload_bytes=4_000_000_000, batched=4096, prefix_cache=False)
    words = made(plan).words
    assert after(words, "--cpu-offload-gb") == "3.73", "GiB, for each card"
    assert after(words, "--max-num-batched-tokens") == "4096"
    assert "--no-enable-prefix-caching" in words
    cpu = made(plan, "cpu", share=None).words
    assert "--no-enable-prefix-caching" in cpu
    assert not {"--cpu-offload-gb", "--max-num-batched-tokens"} & set(cpu)


def test_on_the_processor() -> None:
    told = made(PLAN, "cpu", share=None)
    assert "--enforce-eager" in told.words
    assert "--no-enable-chunked-prefill" in told.words
    assert "--no-enable-chunked-prefill" not in made().words
    assert after(told.words, "--dtype") == "float32"
    assert told.environment["VLLM_CPU_KVCACHE_SPACE"] == "1"
    assert "--gpu-memory-utilization" not in told.words


def test_a_place_is_private_and_new(tmp_path: Path) -> None:
    one, other = make_place(tmp_path / "x"), make_place(tmp_path / "x")
    assert one.scratch != other.scratch
    for place in (one, other):
        assert place.scratch.stat().st_mode & 0o777 == 0o700
        assert place.socket is not None
        assert len(str(place.socket)) <= 107
        place.scratch.rmdir()
