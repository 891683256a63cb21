"""Installing an engine on Windows, within a Linux of WSL2, with a stand-in for wsl.exe."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import EngineHindered, EngineInUse, EngineNotMade
from app.net import Gate
from app.runtime.values.installation import Phase, Step
from app.wiring.installer import engine_installer
from engines.cancel import CancelToken
from engines.errors import Cancelled, UserError
from engines.vllm.processes import processes
from engines.vllm.provision.home import EngineHome, Installed
from engines.vllm.provision.lock import Lock
from tests.support.engine_making import PYTHON
from tests.support.package_index import PackageIndex, Wheel, lock_of, made_vllm
from tests.support.paths import ROOT
from tests.support.suite import sampled
from tests.support.waiting import until
from tests.support.wsl.care import care_inside, tool_wheel, write_tool
from tests.support.wsl.windows import Windows, words_at

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the stand-in is for Linux")


class Making:
    """An installer on Windows whose lock a test may change."""

    def __init__(self, folder: Path, index: PackageIndex, gate: Gate) -> None:
        self.windows = Windows(folder / "windows")
        self.linux = self.windows.add()
        self.root = folder / "data" / "engines" / "vllm"
        self.locks = folder / "locks"
        self.index = index
        self.told: list[Step] = []
        self.lock: Lock
        self.tool = tool_wheel()
        write_tool(self.locks, self.tool)
        self.care = care_inside(
            self.windows.wsl, self.root, lambda: self.lock, gate, index.url, self.locks
        )
        self.offer(made_vllm("1.0"))

    def offer(self, wheels: tuple[Wheel, ...]) -> None:
        self.index.wheels = [*wheels, self.tool]
        self.lock = lock_of(wheels, PYTHON)

    def install(self) -> Installed:
        return self.care.install("cpu", self.told.append, CancelToken())

    @property
    def inside(self) -> Path:
        """Return the folder of the environments in the Linux."""
        return self.linux / ".local/share/hearth/engines/vllm"

    @property
    def environments(self) -> list[str]:
        return sorted(it.name for it in (self.inside / "versions").glob("*"))


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate(lambda _: None, lambda: True)
    yield gate
    gate.close()


@pytest.fixture
def index() -> Iterator[PackageIndex]:
    index = PackageIndex()
    yield index
    index.close()


@pytest.fixture
def making(tmp_path: Path, index: PackageIndex, gate: Gate) -> Making:
    return Making(tmp_path, index, gate)


def version_of(installed: Installed) -> str:
    words = [*installed.runs[:-1], "--version"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]


def test_the_whole_way(making: Making, tmp_path: Path) -> None:
    check = making.care.check("cpu")
    assert check.hindrance is None
    assert check.linux == "Ubuntu"
    assert "Ubuntu" in check.findings[0].what
    assert check.price is not None
    files = [*(it.size for it in making.lock.files), len(making.tool.data)]
    assert check.price.download_bytes == sum(files)

    first = making.install()
    assert first.linux == "Ubuntu"
    assert first.folder.parent == making.inside / "versions"
    assert version_of(first) == "1.0+made"
    phases = list(dict.fromkeys(step.phase for step in making.told))
    assert phases == ["look", "download", "install", "try", "switch"]
    assert EngineHome(making.root).current() == first, "a start reads it without asking WSL2"
    assert making.care.state().kept_bytes > 300_000, "of the environment, not what stands for it"

    making.offer(made_vllm("2.0"))
    second = making.install()
    assert version_of(second) == "2.0+made"
    assert making.care.rollback() == first
    assert making.care.rollback() == second
    making.offer(made_vllm("3.0"))
    making.install()
    assert [name.split("-")[0] for name in making.environments] == ["2.0", "3.0"]

    making.care.remove()
    assert making.care.state().version is None
    assert making.environments == []
    made = [it for it in making.linux.rglob("*") if it.is_file()]
    assert [it.name for it in made] == ["lock"]
    assert set(making.linux.iterdir()) == {making.linux / ".local"}


def test_a_linux_that_is_missing_is_said_and_nothing_is_done(making: Making) -> None:
    making.windows.change(installed=False)
    check = making.care.check("cpu")
    assert check.price is None
    assert check.hindrance is not None
    assert "wsl --install" in check.hindrance.do
    with pytest.raises(EngineHindered, match="WSL2"):
        making.install()
    assert not making.index.requests
    assert making.care.state().version is None


def test_all_that_comes_comes_by_hearth_itself(making: Making) -> None:
    """Nothing in the Linux uses the network: Hearth hands over files, which are checked again."""
    making.install()
    asked = {it.path.rsplit("/", 1)[-1] for it in making.index.requests if "/files/" in it.path}
    assert asked == {it.name for it in making.index.wheels}


def test_one_that_does_not_work_leaves_the_one_in_use(making: Making) -> None:
    first = making.install()
    making.offer(made_vllm("2.0", more="raise RuntimeError('operator nms does not exist')"))
    with pytest.raises(EngineNotMade, match="operator nms does not exist"):
        making.install()
    assert making.care.home.current() == first
    assert making.environments == [first.folder.name], "nothing half made stays"
    making.care.tidy()
    assert not making.care.home.half_made


def test_one_that_runs_is_not_removed(making: Making) -> None:
    installed = making.install()
    words = [str(installed.python), "-c", "print(flush=True); input()"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        with pytest.raises(EngineInUse):
            making.care.remove()
        assert process.stdin is not None
        process.stdin.close()
    making.care.remove()


def test_a_distribution_that_the_user_has_removed(making: Making) -> None:
    making.install()
    making.windows.forget()
    making.linux = making.windows.add("Debian")
    assert making.care.check("cpu").linux == "Debian"
    making.care.remove()
    assert making.care.state().version is None
    assert making.install().linux == "Debian"


def test_the_distribution_that_has_one_gets_the_next(making: Making) -> None:
    making.install()
    making.windows.change(distributions={"Debian": {"version": 2}, "Ubuntu": {"version": 2}})
    making.offer(made_vllm("2.0"))
    assert making.install().linux == "Ubuntu"


def test_what_cannot_be_removed_is_removed_later(making: Making) -> None:
    making.install()
    making.windows.change(distributions={"Ubuntu": {"version": 2, "broken": True}})
    with pytest.raises(UserError, match="Ubuntu"):
        making.care.remove()
    making.windows.change(distributions={"Ubuntu": {"version": 2}})
    kernels = making.linux / ".local/share/hearth/engines/vllm-worker/caches"
    kernels.mkdir(parents=True)
    making.care.remove()
    assert making.environments == []
    assert not kernels.exists()


@pytest.mark.parametrize("phase", ["install", "try"])
def test_cancelled_it_goes_on_later(making: Making, tmp_path: Path, phase: Phase) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    making.offer(made_vllm("1.0", hold=hold))
    cancel = CancelToken()

    def tell(step: Step) -> None:
        if step.phase == phase:
            threading.Thread(target=_when_it_waits, args=(hold, cancel, phase)).start()

    with pytest.raises(Cancelled):
        making.care.install("cpu", tell, cancel)
    assert making.environments == [], "it is cleared up before the cancel is over"
    assert making.care.home.current() is None
    hold.unlink()
    making.index.requests.clear()
    making.install()
    assert not making.index.requests, "what had come was asked for again"


def _when_it_waits(hold: Path, cancel: CancelToken, phase: Phase) -> None:
    if phase == "try":
        _wait_for(hold.with_name("hold.waits"))
    cancel.cancel()


@pytest.mark.parametrize("victim", sampled(["hearth", "wsl.exe", "both"], ["hearth"]))
def test_killed_nothing_of_it_stays(making: Making, tmp_path: Path, victim: str) -> None:
    """The kill comes while the new version is tried inside."""
    first = making.install()
    hold = tmp_path / "hold"
    hold.touch()
    making.offer(made_vllm("2.0", hold=hold))
    (tmp_path / "lock").write_bytes(pickle.dumps(making.lock))
    words = [str(making.windows.program), str(making.root), str(tmp_path / "lock")]
    words += [making.index.url, str(making.locks)]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.wsl.care", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        _wait_for(tmp_path / "hold.waits")
        through = making.windows.through("serve")
        if victim in {"hearth", "both"}:
            os.kill(process.pid, signal.SIGKILL)
        if victim in {"wsl.exe", "both"}:
            os.kill(through.pid, signal.SIGKILL)
        _, said = process.communicate()
    if victim == "wsl.exe":
        assert "EngineUnavailable" in said or "EngineNotMade" in said
    until(lambda: not [it for it in processes() if str(tmp_path) in str(words_at(it.pid))])
    assert making.environments == [first.folder.name]
    assert len(list((making.root / "versions").iterdir())) == 2, "Hearth could not see to it"
    making.care.tidy()
    assert [it.name for it in (making.root / "versions").iterdir()] == [first.folder.name]
    assert making.care.home.current() == first
    hold.unlink()
    making.index.requests.clear()
    assert version_of(making.install()) == "2.0+made"
    assert not making.index.requests


def test_one_that_became_whole_inside_while_hearth_was_killed(making: Making) -> None:
    """Hearth did not learn that it became complete, so it counts as incomplete and is removed."""
    installed = making.install()
    stand_in = making.root / "versions" / installed.folder.name
    (stand_in / "hearth.json").unlink()
    stand_in.rename(stand_in.with_name(f"{stand_in.name}.part"))
    (making.root / "current").unlink()
    making.care.tidy()
    assert making.environments == []
    again = making.install()
    # The size includes logs and times inside, which can differ by a digit.
    assert replace(again, size_bytes=installed.size_bytes) == installed


def test_a_linux_that_does_not_start_keeps_nobody_from_the_page(
    making: Making, gate: Gate, caplog: pytest.LogCaptureFixture
) -> None:
    """An incomplete environment in it is removed later, and the page can be used meanwhile."""
    installed = making.install()
    stand_in = making.root / "versions" / f"{installed.folder.name}.part"
    stand_in.mkdir()
    (stand_in / "linux").write_text("Ubuntu")
    making.windows.change(distributions={"Ubuntu": {"version": 2, "broken": True}})
    care = engine_installer(making.root, gate, lambda: False, making.windows.wsl)
    assert "stays for now" in caplog.text
    assert care.state().version == "1.0"
    making.windows.change(distributions={"Ubuntu": {"version": 2}})
    assert not engine_installer(making.root, gate, lambda: False, making.windows.wsl).home.half_made


def test_two_at_once_make_it_once(making: Making, gate: Gate) -> None:
    other = care_inside(
        making.windows.wsl, making.root, lambda: making.lock, gate, making.index.url, making.locks
    )
    found: list[Installed] = []

    def install() -> None:
        found.append(other.install("cpu", lambda _: None, CancelToken()))

    threads = [threading.Thread(target=install) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    begun = [it for it in making.windows.asked if "serve" in it]
    assert len(begun) == 1


def test_what_hearth_hands_over_needs_nothing_there(making: Making) -> None:
    """It uses the standard library only, and runs isolated without a single package."""
    making.install()
    (pack,) = (making.root.with_name("vllm-wsl")).glob("*.pyz")
    words = [sys.executable, "-I", "-S", str(pack), "serve"]
    result = subprocess.run(words, input=b"", capture_output=True, env={}, check=True)
    assert json.loads(result.stdout) == {"done": str(pack)}
    assert result.stderr == b""


def _wait_for(path: Path) -> None:
    until(path.exists)
