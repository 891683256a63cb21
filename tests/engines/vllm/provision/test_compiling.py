"""The CUDA compiler among a lock's wheels makes a kernel of FlashInfer's: no card is needed.

The wheels (some 230 MB) are fetched once, into .cache; the kernel takes about ten seconds of a
processor. If an index does not have them, the test is skipped.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from engines.models.checkpoint import read_checkpoint
from engines.vllm.command import WorkerPlace, command
from engines.vllm.provision.environment import name_toolkit
from engines.vllm.provision.home import Installed
from engines.vllm.provision.lock import TargetSystem, read_lock
from engines.vllm.scratch import link_driver
from tests.engines.vllm.faked import PLAN, TARGET
from tests.support.paths import ROOT

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(900),
    pytest.mark.skipif("HEARTH_VLLM_HOME" not in os.environ, reason="run.py test --vllm"),
]

LOCK = read_lock(ROOT / "resources" / "vllm", "cuda")
COMPUTER = TargetSystem("x86_64", (2, 34), (3, 12))
PROJECTS = (
    "nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime", "nvidia-curand",
    "apache-tvm-ffi", "flashinfer-python",
)  # fmt: skip
NEEDED = re.compile(
    r"nvidia/|tvm_ffi/include/"
    r"|flashinfer/data/(include|csrc/[^/]*$|cccl/(cub|thrust|libcudacxx/include)/)"
)
"""The files of the wheels that the compiler reads."""

KERNEL = """\
#include <flashinfer/sampling.cuh>

void* sampler() { return (void*)&flashinfer::sampling::SamplingFromLogits<float, int>; }
"""


@pytest.fixture(scope="session")
def toolkit() -> Path:
    """Return the lock's CUDA toolkit and FlashInfer's sources, laid out as in an environment."""
    folder = ROOT / ".cache" / f"vllm-compiler-{LOCK.digest[:16]}"
    if not folder.exists():
        part = folder.with_name(f"{folder.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        fetch(part / "wheels")
        packages = part / "lib" / "python3.12" / "site-packages"
        for wheel in (part / "wheels").glob("*.whl"):
            unpack(wheel, packages)
        shutil.rmtree(part / "wheels")
        name_toolkit(part)
        part.replace(folder)
    return folder


def fetch(folder: Path) -> None:
    """Download the wheels by the lock's checksums, or skip the test."""
    folder.mkdir(parents=True)
    chosen = [it for it in LOCK.chosen(COMPUTER) if it.project in PROJECTS]
    assert len(chosen) == len(PROJECTS)
    lines = [f"{it.project}=={it.name.split('-')[1]} --hash=sha256:{it.sha256}\n" for it in chosen]
    requirements = folder / "requirements.txt"
    requirements.write_text("".join(lines))
    platforms = {tag for it in chosen for tag in it.name[:-4].split("-")[-1].split(".")}
    words = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    words += ["--require-hashes", "--python-version=3.12", "--dest", str(folder)]
    words += [f"--platform={it}" for it in sorted(platforms)]
    words += ["--requirement", str(requirements)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        last = (done.stderr.strip() or done.stdout.strip() or "pip gave no reason").splitlines()[-1]
        pytest.skip(f"the wheels of CUDA's compiler are not to be had: {last}")


def unpack(wheel: Path, packages: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for it in archive.infolist():
            if NEEDED.match(it.filename) and not it.is_dir():
                path = Path(archive.extract(it, packages))
                path.chmod(it.external_attr >> 16 & 0o777 or 0o644)


def test_the_sampler_of_flashinfer_is_compiled_and_linked(toolkit: Path, tmp_path: Path) -> None:
    packages = toolkit / "lib" / "python3.12" / "site-packages"
    data = packages / "flashinfer" / "data"
    environment = dict(environment_of(toolkit, tmp_path))
    cuda = Path(environment["CUDA_HOME"])
    (tmp_path / "kernel.cu").write_text(KERNEL)
    # FlashInfer's own words, for one kind of card.
    words = [str(cuda / "bin" / "nvcc"), "-std=c++17", "-use_fast_math", "-c", "kernel.cu"]
    words += ["-o", "kernel.o", "-gencode=arch=compute_90a,code=sm_90a", "-Xcompiler=-fPIC"]
    words += ["--expt-relaxed-constexpr", "-static-global-template-stub=false"]
    words += [f"-I{data / 'cccl' / it}" for it in ("cub", "libcudacxx/include", "thrust")]
    for it in (cuda / "include", packages / "tvm_ffi/include", data / "include", data / "csrc"):
        words += ["-isystem", str(it)]
    subprocess.run(words, cwd=tmp_path, env=environment, check=True)
    library = tmp_path / "kernel.so"
    link = ["c++", "kernel.o", "-shared", f"-L{cuda}/lib64", f"-L{cuda}/lib64/stubs"]
    link += ["-lcudart", "-lcuda", "-o", str(library)]
    subprocess.run(link, cwd=tmp_path, env=environment, check=True)
    assert b"libcudart.so.13\0" in library.read_bytes()


def environment_of(folder: Path, scratch: Path) -> dict[str, str]:
    """Return the variables of a worker, with another library instead of the driver's."""
    driver = scratch / "libcuda.so.1"
    (scratch / "driver.c").write_text("int cuInit(unsigned flags) { return 0; }\n")
    subprocess.run(
        ["cc", "-shared", "-fPIC", str(scratch / "driver.c"), "-o", str(driver)], check=True
    )
    link_driver(scratch, driver)
    told = command(
        PLAN,
        Installed(LOCK.version, "cuda", folder),
        WorkerPlace(scratch, scratch, scratch / "w.sock"),
        read_checkpoint(TARGET),
        drafts=None,
        share=None,
        card_numbers=(),
        host_variables=os.environ,
    )
    # The folder for temporary files of a worker is its scratch folder.
    return dict(told.environment)
