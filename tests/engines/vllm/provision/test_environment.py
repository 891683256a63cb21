"""The tools of a new environment, and the repairs in it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engines.errors import EngineUnavailable
from engines.vllm.provision.environment import has_headers, name_toolkit, uv

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="environments are those of Linux")


def test_the_toolkit_among_the_packages_is_found_as_compilers_look_for_it(tmp_path: Path) -> None:
    packages = tmp_path / "x.part" / "lib/python3.12/site-packages/nvidia/cu13"
    for name in ("bin/nvcc", "lib/libcudart.so.13"):
        (packages / name).parent.mkdir(parents=True)
        (packages / name).write_text(name)
    name_toolkit(tmp_path / "x.part")
    name_toolkit(tmp_path / "x.part")
    whole = (tmp_path / "x.part").rename(tmp_path / "x")
    assert (whole / "cuda/bin/nvcc").read_text() == "bin/nvcc", "also where it lies in the end"
    assert (whole / "cuda/lib64/libcudart.so").read_text() == "lib/libcudart.so.13"


def test_an_environment_without_a_toolkit_stays_as_it_is(tmp_path: Path) -> None:
    name_toolkit(tmp_path)
    assert not list(tmp_path.iterdir())


def test_headers_are_those_of_the_python_that_would_be_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = tmp_path / "bin" / "python3.9"
    found.parent.mkdir()
    found.write_text('#!/bin/sh\ncat "$0.says"\n')
    found.chmod(0o755)
    look = "#!/bin/sh\necho " + str(found)
    tool = tmp_path / "uv"
    tool.write_text(look)
    tool.chmod(0o755)
    monkeypatch.setattr("engines.vllm.provision.environment.uv", lambda: str(tool))
    says = tmp_path / "bin" / "python3.9.says"
    says.write_text(f'Paths:\n\tdata = "/usr"\n\tinclude = "{tmp_path}"\n')
    assert not has_headers((3, 9))
    (tmp_path / "Python.h").touch()
    assert has_headers((3, 9))
    says.write_text("")
    assert not has_headers((3, 9)), "who does not tell has none"


def test_where_hearth_comes_without_uv_the_users_own_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> str:
        raise FileNotFoundError

    monkeypatch.setattr("uv.find_uv_bin", missing)
    own = tmp_path / "uv"
    own.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert uv() == str(own)
    monkeypatch.setenv("PATH", str(tmp_path / "elsewhere"))
    with pytest.raises(EngineUnavailable, match=r"run\.py"):
        uv()
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with pytest.raises(EngineUnavailable, match="pipx install uv"):
        uv()
