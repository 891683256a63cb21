"""Makes an environment for vLLM with uv from files on disk, without any connection."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from engines.cancel import CancelToken
from engines.errors import EngineUnavailable
from engines.private import private
from engines.sentences import N_
from engines.vllm.provision.child import CommandFailed, run
from engines.vllm.provision.home import SERVE, TOOLKIT, EngineHome, Installed, python_of
from engines.vllm.provision.lock import Lock, Pythons

_INHERITED = (
    "HOME", "LANG", "LC_ALL", "PATH", "PYENV_ROOT", "TEMP", "TMP", "TMPDIR",
    "UV_PYTHON_INSTALL_DIR", "USER", "XDG_DATA_HOME",
)  # fmt: skip
_OUTSIDE = (
    "ALL_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_DIR", "SSL_CERT_FILE",
)  # fmt: skip
"""Further variables for a command that connects to the network."""
_UV_SETTINGS = {
    "UV_NO_CONFIG": "1",
    "UV_NO_PROGRESS": "1",
    "UV_OFFLINE": "1",
    "UV_PYTHON_DOWNLOADS": "never",
}


class EnvironmentMaker(Protocol):
    """The steps of making an environment, in their order; each raises as `child.run` does."""

    def create(self, python: tuple[int, int]) -> None:
        """Create an empty environment, replacing an existing one."""
        ...

    def fill(self) -> None:
        """Install the files of the lock and nothing else."""
        ...

    def fetch_kernels(self, on_line: Callable[[str], None]) -> None:
        """Have vLLM install compiled kernels for this card, which saves minutes at its start.

        vLLM downloads them itself from its makers, without passing Hearth's gate. The environment
        also works without them.
        """
        ...

    def test(self) -> None:
        """Have vLLM print its version, which loads most of it.

        Also raises CommandFailed if the version is not that of the lock.
        """
        ...

    def finish(self) -> Installed:
        """Record that the environment works and is complete."""
        ...


@dataclass(frozen=True)
class LocalMaker:
    """A `EnvironmentMaker` on this Linux.

    Attributes:
        files: Folder of the wheels.
        uv: Path of uv.
        lock_descriptor: Descriptor of the lock; see `alone`.
    """

    home: EngineHome
    lock: Lock
    files: Path
    uv: str
    lock_descriptor: int
    cancel: CancelToken

    @property
    def folder(self) -> Path:
        """Folder of the environment, which can already be complete."""
        complete = self.home.find(self.lock)
        return complete.folder if complete is not None else self.home.part_of(self.lock)

    @property
    def scratch(self) -> Path:
        """Folder for caches; the caller removes it."""
        return self.home.work

    def create(self, python: tuple[int, int]) -> None:
        """Create an empty environment with uv, replacing an existing one."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self._uv("venv", "--python", _interpreter(python), "--no-project", str(self.folder))

    def fill(self) -> None:
        """Install the wheels of the lock with uv, offline and by hash."""
        requirements = self.scratch / "requirements.txt"
        with open(requirements, "w", encoding="utf-8", opener=private) as file:
            file.write(self.lock.requirements)
        self._uv(
            "pip", "install", "--no-index", "--no-deps", "--require-hashes", "--no-build",
            "--python", str(python_of(self.folder)), "--find-links", str(self.files),
            "--requirements", str(requirements),
        )  # fmt: skip
        if self.lock.distribution != "vllm":
            self._add_vllm_metadata()
        name_toolkit(self.folder)

    def fetch_kernels(self, on_line: Callable[[str], None]) -> None:
        """Have vLLM download compiled kernels; the user's proxy and certificates apply."""
        words = [str(python_of(self.folder)), *SERVE[:2], "download-kernels"]
        proxy_variables = {
            name: os.environ[name] for name in _both_cases(_OUTSIDE) if name in os.environ
        }
        environment = quiet(self.folder, self.scratch, os.environ) | proxy_variables
        environment["PATH"] = os.pathsep.join([str(Path(self.uv).parent), environment["PATH"]])
        environment["UV_CACHE_DIR"] = str(self.scratch / "uv")
        run(words, environment, self.cancel, lock_descriptor=self.lock_descriptor, on_line=on_line)

    def test(self) -> None:
        """Have vLLM print its version, and compare it with the lock's."""
        words = [str(python_of(self.folder)), *SERVE[:2], "--version"]
        environment = quiet(self.folder, self.scratch, os.environ)
        lines = run(words, environment, self.cancel, lock_descriptor=self.lock_descriptor)
        version = (lines[-1] if lines else "").partition("+")[0].strip()
        if version != self.lock.version:
            raise CommandFailed(
                words,
                0,
                [*lines, N_("It reports the version {version}.", version=version or "nothing")],
            )

    def finish(self) -> Installed:
        """Record that the environment is complete, and move it to its final place."""
        return self.home.finish(self.lock)

    def _add_vllm_metadata(self) -> None:
        """Give the package the name “vllm”, by which vLLM looks up its own version.

        The local part of the version tells vLLM that this is a build for processors.
        """
        packages = next(self.folder.glob("lib/python*/site-packages"))
        version = f"{self.lock.version}+{self.lock.profile}"
        facts = packages / f"vllm-{version}.dist-info"
        facts.mkdir()
        text = N_("Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n", version=version)
        (facts / "METADATA").write_text(text, encoding="utf-8")
        (facts / "RECORD").touch()

    def _uv(self, *words: str) -> None:
        caches = {"UV_CACHE_DIR": str(self.scratch / "uv")}
        environment = _inherited(os.environ) | _UV_SETTINGS | caches
        run([self.uv, *words], environment, self.cancel, lock_descriptor=self.lock_descriptor)


def name_toolkit(folder: Path) -> None:
    """Link the CUDA toolkit among an environment's packages under a fixed name, if there is one.

    Compilers look for its libraries in lib64 and under names without a version, so those links are
    added too.
    """
    nvcc = next(folder.glob("lib/python*/site-packages/nvidia/cu*/bin/nvcc"), None)
    if nvcc is None:
        return
    toolkit = nvcc.parents[1]
    links = {folder / TOOLKIT: toolkit.relative_to(folder), toolkit / "lib64": Path("lib")}
    for library in sorted((toolkit / "lib").glob("libcudart.so.*")):
        links[library.with_name("libcudart.so")] = Path(library.name)
    for link, target in links.items():
        if not link.exists():
            link.symlink_to(target)


def uv() -> str:
    """Return the path of the uv that came with Hearth, or else of the user's own.

    Hearth's packages do not contain uv. Raises EngineUnavailable if there is none.
    """
    from uv import find_uv_bin

    try:
        return find_uv_bin()
    except FileNotFoundError as error:
        user_uv = shutil.which("uv")
        if user_uv is not None:
            return user_uv
        if getattr(sys, "frozen", False):
            raise EngineUnavailable(
                N_("vLLM cannot be installed: uv is missing."),
                N_("It makes vLLM's environment; Hearth's packages come without it."),
                N_("Install uv, for example with “pipx install uv”, and try again."),
            ) from error
        raise EngineUnavailable(
            N_("vLLM cannot be installed: uv is missing."),
            N_("It makes vLLM's environment, and belongs to Hearth's own installation."),
            N_("Reinstall Hearth, or restore its packages by starting it with run.py."),
        ) from error


def has_headers(python: tuple[int, int]) -> bool:
    """Return whether the Python for a new environment has its headers installed."""
    words = [_find(python).stdout.strip(), "-I", "-m", "sysconfig"]
    output = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    folder = re.search(r'^\s*include = "(.+)"$', output, re.MULTILINE)
    return folder is not None and Path(folder[1], "Python.h").exists()


def available_pythons(pythons: Pythons) -> Pythons:
    """Return those of the wanted versions of Python that uv finds on this computer."""
    return tuple(python for python in pythons if _find(python).returncode == 0)


def _find(python: tuple[int, int]) -> subprocess.CompletedProcess[str]:
    words = [uv(), "python", "find", "--no-project", "--system", _interpreter(python)]
    environment = _inherited(os.environ) | _UV_SETTINGS
    return subprocess.run(words, capture_output=True, text=True, env=environment, check=False)


def _interpreter(python: tuple[int, int]) -> str:
    """Name a Python for uv: the one that runs Hearth, or any of that version on this computer.

    A Python that is packed into Hearth cannot be used by other programs.
    """
    if python == sys.version_info[:2] and not getattr(sys, "frozen", False):
        return str(Path(sys.base_prefix) / "bin" / f"python{python[0]}.{python[1]}")
    return f"{python[0]}.{python[1]}"


def quiet(folder: Path, caches: Path, variables: Mapping[str, str]) -> dict[str, str]:
    """Return variables that isolate an environment from the user's Python and from this app.

    Telemetry is off, and caches stay in a folder of Hearth's.

    Args:
        folder: Folder of the environment.
        caches: Folder for caches.
        variables: Variables of this process.
    """
    return _inherited(variables) | {
        "PATH": os.pathsep.join([str(folder / "bin"), variables.get("PATH", "")]),
        "VIRTUAL_ENV": str(folder),
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "VLLM_NO_USAGE_STATS": "1",
        "DO_NOT_TRACK": "1",
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "VLLM_CACHE_ROOT": str(caches / "vllm"),
        "VLLM_CONFIG_ROOT": str(caches / "config"),
        "XDG_CACHE_HOME": str(caches),
        "XDG_CONFIG_HOME": str(caches / "config"),
        "FLASHINFER_WORKSPACE_BASE": str(caches),
        "TRITON_CACHE_DIR": str(caches / "triton"),
        "TORCHINDUCTOR_CACHE_DIR": str(caches / "inductor"),
    }


def _inherited(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of this process that other programs need."""
    return {name: variables[name] for name in _INHERITED if name in variables}


def _both_cases(names: tuple[str, ...]) -> tuple[str, ...]:
    return names + tuple(name.lower() for name in names)
