"""The locks that come with Hearth, and the choice of their files for a computer."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from engines.vllm.provision.lock import (
    Lock,
    LockedFile,
    LockName,
    TargetSystem,
    read_lock,
    read_tool,
)
from tests.support.paths import ROOT

LOCKS = ROOT / "resources" / "vllm"


def made(requirements: str, *names: str) -> Lock:
    files = tuple(LockedFile(name, name.split("-", 1)[0], 1, "0" * 64) for name in names)
    return Lock("cuda", "1", "vllm", ((3, 12),), 1, requirements, files)


def names(lock: Lock, target: TargetSystem) -> list[str]:
    return [it.name for it in lock.chosen(target)]


USUAL = TargetSystem("x86_64", (2, 35), (3, 12))


@pytest.mark.parametrize("profile", get_args(LockName))
def test_a_lock_names_no_place(profile: LockName) -> None:
    for file in (LOCKS / f"{profile}.txt", LOCKS / f"{profile}.json"):
        text = file.read_text()
        assert "://" not in text
        assert not re.search(r"\.(org|com|io|net)\b", text)


@pytest.mark.parametrize(
    ("profile", "machine", "glibc"),
    [
        ("cuda", "x86_64", (2, 31)),
        ("cuda", "aarch64", (2, 34)),
        ("cpu", "x86_64", (2, 31)),
        ("cuda-ray", "x86_64", (2, 31)),
        ("cuda-ray", "aarch64", (2, 34)),
        ("cpu-plain", "x86_64", (2, 31)),
    ],
)
def test_a_lock_is_whole_for_each_computer_it_is_made_for(
    profile: LockName, machine: str, glibc: tuple[int, int]
) -> None:
    lock = read_lock(LOCKS, profile)
    for python in lock.pythons:
        chosen = lock.chosen(TargetSystem(machine, glibc, python))
        assert len(chosen) > 140
        assert {it.sha256 for it in chosen} <= set(
            re.findall(r"--hash=sha256:(\w{64})", lock.requirements)
        )
        own = next(it for it in chosen if it.project == lock.distribution)
        assert own.name.split("-")[1] == lock.version
        assert sum(it.size for it in chosen) > 400_000_000


def test_the_lock_for_processors_has_nothing_for_cards() -> None:
    projects = {it.project for it in read_lock(LOCKS, "cpu").files}
    assert not projects & {"torchvision", "torchaudio", "torchcodec", "triton"}
    assert not any(it.startswith("nvidia-") for it in projects)


@pytest.mark.parametrize("name", get_args(LockName))
def test_every_lock_has_what_decodes_sounds(name: LockName) -> None:
    assert read_lock(LOCKS, name).hears


def test_ray_comes_with_the_lock_that_is_named_after_it() -> None:
    plain, with_ray = read_lock(LOCKS, "cuda"), read_lock(LOCKS, "cuda-ray")
    assert {it.project for it in with_ray.files} - {it.project for it in plain.files} >= {"ray"}
    assert (with_ray.profile, with_ray.version) == ("cuda", plain.version)


@pytest.mark.parametrize("name", [it for it in get_args(LockName) if not it.startswith("cpu")])
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_cuda_s_compiler_suits_the_headers_that_it_reads(name: LockName, machine: str) -> None:
    """With two minor versions, no kernel can be compiled."""
    lock = read_lock(LOCKS, name)
    for python in lock.pythons:
        chosen = lock.chosen(TargetSystem(machine, (2, 34), python))
        minors = {it.project: ".".join(it.name.split("-")[1].split(".")[:2]) for it in chosen}
        parts = ("nvcc", "crt", "runtime", "nvrtc", "cupti")
        found = {it: minors[f"nvidia-cuda-{it}"] for it in parts} | {"nvvm": minors["nvidia-nvvm"]}
        assert len(set(found.values())) == 1, found


def test_a_lock_for_processors_holds_only_what_the_public_index_has() -> None:
    """Local versions, such as torch's "+cpu", are only in their makers' own index."""
    plain = read_lock(LOCKS, "cpu-plain")
    assert plain.profile == "cpu"
    assert "+" not in "".join(it.name for it in plain.files)
    assert "+cpu" in "".join(it.name for it in read_lock(LOCKS, "cpu").files)


def test_a_lock_names_itself_by_its_content() -> None:
    assert read_lock(LOCKS, "cpu").digest != read_lock(LOCKS, "cuda").digest
    assert made("a==1\n").digest == made("a==1\n", "a-1-py3-none-any.whl").digest


def test_the_newest_build_that_the_c_library_runs_is_chosen() -> None:
    lock = made(
        "a==1\n",
        "a-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
        "a-1-cp312-cp312-manylinux_2_28_x86_64.whl",
        "a-1-cp312-cp312-manylinux_2_39_x86_64.whl",
        "a-1-cp312-cp312-manylinux_2_28_aarch64.whl",
        "a-1-cp311-cp311-manylinux_2_28_x86_64.whl",
        "a-1-py3-none-any.whl",
    )
    assert names(lock, USUAL) == ["a-1-cp312-cp312-manylinux_2_28_x86_64.whl"]
    old = TargetSystem("x86_64", (2, 17), (3, 12))
    assert names(lock, old) == ["a-1-cp312-cp312-manylinux_2_17_x86_64.manylinux2014_x86_64.whl"]
    assert names(lock, TargetSystem("riscv64", (2, 39), (3, 12))) == ["a-1-py3-none-any.whl"]


def test_a_stable_interface_suits_a_newer_python() -> None:
    lock = made("a==1\n", "a-1-cp38-abi3-manylinux1_x86_64.whl")
    assert names(lock, USUAL) == ["a-1-cp38-abi3-manylinux1_x86_64.whl"]


def test_markers_decide_which_requirements_count() -> None:
    lock = made(
        "a==1 ; python_full_version < '3.12'\na==2 ; python_full_version >= '3.12'\n"
        "b==1 ; platform_machine == 'aarch64'\n",
        "a-1-py3-none-any.whl", "a-2-py3-none-any.whl", "b-1-py3-none-any.whl",
    )  # fmt: skip
    assert names(lock, USUAL) == ["a-2-py3-none-any.whl"]


def test_a_local_version_is_another_version() -> None:
    lock = made("a==1+cpu\n", "a-1-py3-none-any.whl", "a-1+cpu-py3-none-any.whl")
    assert names(lock, USUAL) == ["a-1+cpu-py3-none-any.whl"]


def test_a_requirement_without_a_file_is_named() -> None:
    lock = made("a==1\nwide-one==2\n", "a-1-py3-none-any.whl", "wide_one-1-py3-none-any.whl")
    with pytest.raises(LookupError, match="wide-one"):
        lock.chosen(USUAL)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_uv_for_the_linux_inside_a_windows_is_the_one_of_hearth_s_own_lock(machine: str) -> None:
    tool = read_tool(LOCKS, "uv", machine)
    lines = (ROOT / "installers" / "lock" / "app.txt").read_text().splitlines()
    version = next(it for it in lines if it.startswith("uv==")).split()[0].removeprefix("uv==")
    assert tool.name.startswith(f"uv-{version}-")
    assert any(tool.sha256 in line for line in lines)
    assert (tool.project, tool.size > 10_000_000) == ("uv", True)
    with pytest.raises(LookupError):
        read_tool(LOCKS, "uv", "riscv64")
