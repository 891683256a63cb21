"""A worker that stays is used by the next Hearth, and none outlives its users."""

from __future__ import annotations

import os
import signal
import socket  # noqa: TID251  stands in for somebody else at a worker's door
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from app.net.server_client import socket_client
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, EngineFailed
from engines.hardware.values import Gpu, Hardware
from engines.types import VllmPlan
from engines.vllm import scratch, shared, supervised
from engines.vllm.clients import socket_of
from engines.vllm.engine import VllmEngine
from engines.vllm.offers import OfferedWorker, offered_workers
from engines.vllm.provision.home import Installed
from engines.vllm.scratch import runs_folder
from tests.engines.vllm.another import Hearth
from tests.engines.vllm.faked import (
    ASSISTANT,
    MACHINE,
    PLAN,
    SHORT_GRACE_S,
    answer,
    behave,
    gone,
    make_engine,
    make_fake,
    members,
    question,
    started_in,
)
from tests.engines.vllm.test_adapting import adapter
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    # httpcore2 does not close a local socket if nothing listens at its other end.
    pytest.mark.filterwarnings("ignore:unclosed <socket.*family=1:ResourceWarning"),
]
LONG_S = 600.0


@pytest.fixture
def fake(tmp_path: Path) -> Path:
    """Return the folder of a made environment."""
    folder = tmp_path / "fake"
    make_fake(folder)
    return folder


class Site:
    """Hearths that share one folder, in this process and in others."""

    def __init__(self, fake: Path, folder: Path, stack: ExitStack) -> None:
        self.fake = fake
        self.folder = folder
        self._stack = stack

    def engine(self, installed: Installed | None = None) -> VllmEngine:
        engine = make_engine(
            installed or Installed("0.32.0", "cpu", self.fake), self.folder, grace_s=SHORT_GRACE_S
        )
        self._stack.callback(engine.close)
        return engine

    def process(self, wanted: str = "it") -> Hearth:
        return self._stack.enter_context(Hearth(self.fake, self.folder, wanted))

    @property
    def workers(self) -> list[OfferedWorker]:
        return list(offered_workers(self.folder))

    @property
    def left(self) -> list[Path]:
        """The files of workers on the disk."""
        return list(runs_folder(self.folder).iterdir())


@pytest.fixture
def site(fake: Path, tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        found = Site(fake, tmp_path / "engine", stack)
        yield found
        for it in found.workers:
            it.end(force=True)
    until(lambda: started_in(fake) == [])
    until(lambda: found.left == [])


def share(engine: VllmEngine, wanted: str = "it", plan: VllmPlan = PLAN) -> int:
    """Share a worker; return its session."""
    engine.share(wanted, "It", lambda: plan, lambda _: None, CancelToken())
    assert engine.worker is not None
    return engine.worker.session


def test_the_next_command_uses_the_worker_that_stays(site: Site) -> None:
    first = site.process()
    session = first.session
    assert first.ask() == " word0 word1"
    first.leave(LONG_S)
    (worker,) = site.workers
    users, left_s = worker.state() or (1, None)
    assert users == 0
    assert left_s is not None
    assert 0 < left_s <= LONG_S
    engine = site.engine()
    assert share(engine) == session
    assert worker.state() == (1, None)
    report = engine.share("it", "It", lambda: PLAN, lambda _: None, CancelToken())
    assert answer(engine, max_tokens=2) == " word0 word1"
    assert (report.name, report.context, report.answers_at_once) == ("target", 512, 1)
    assert any("KV cache size" in line for line in engine.status().log)
    assert engine.status().state == "ready"


def test_it_ends_by_itself_when_nobody_comes(site: Site, fake: Path) -> None:
    site.process().leave(0.3)
    until(lambda: started_in(fake) == [])
    until(lambda: site.workers == [])


def test_who_does_not_want_it_to_stay_ends_it(site: Site, fake: Path) -> None:
    engine = site.engine()
    share(engine)
    engine.close()
    assert started_in(fake) == []
    assert site.left == []


def test_a_killed_user_leaves_nothing_behind(site: Site) -> None:
    hearth = site.process()
    everything = members(hearth.guardian)
    hearth.kill()
    until(lambda: gone(everything))
    assert site.left == []


def test_the_last_one_killed_ends_what_an_earlier_one_had_stay(site: Site, fake: Path) -> None:
    first = site.process()
    first.leave(LONG_S)
    second = site.process()
    assert second.session == first.session
    second.kill()
    until(lambda: started_in(fake) == [])


@pytest.mark.parametrize("goes", ["leaves", "is killed"])
def test_it_goes_on_for_those_who_use_it(site: Site, fake: Path, goes: str) -> None:
    first, second, third = site.process(), None, None
    session = first.session
    second, third = site.process(), site.process()
    assert [second.session, third.session] == [session, session]
    if goes == "leaves":
        first.leave(0)
        second.leave(0)
    else:
        first.kill()
        second.kill()
    (worker,) = site.workers
    until(lambda: worker.state() == (1, None))
    assert third.ask() == " word0 word1"
    third.leave(0)
    assert started_in(fake) == []


def test_two_at_once_start_one_worker(site: Site, fake: Path) -> None:
    behave(fake, hold="loading")
    first, second = site.process(), site.engine()
    until(lambda: list(fake.glob("loading.*")))
    thread = threading.Thread(target=lambda: share(second))
    thread.start()
    until(lambda: second.status().words.startswith("Waiting"))
    assert second.status().state == "loading"
    # A waiting one continues as soon as it may.
    before = started_in(fake)
    held = fake / "behaviour.json"
    held.write_text("{}")
    os.kill(first.app.pid, signal.SIGKILL)
    thread.join()
    assert second.worker is not None
    assert second.status().state == "ready"
    assert second.worker.session not in {it.pid for it in before}
    assert answer(second, max_tokens=1) == " word0"


def test_five_at_once_start_one_worker(site: Site) -> None:
    hearths = [site.process() for _ in range(5)]
    assert len({it.session for it in hearths}) == 1
    assert {it.ask() for it in hearths} == {" word0 word1"}
    (worker,) = site.workers
    assert worker.state() == (5, None)


def test_who_waits_for_another_s_start_can_leave(site: Site, fake: Path) -> None:
    behave(fake, hold="loading")
    site.process()
    until(lambda: list(fake.glob("loading.*")))
    engine, cancel = site.engine(), CancelToken()
    caught: list[BaseException] = []

    def wait() -> None:
        with pytest.raises(Cancelled) as error:
            engine.share("it", "It", lambda: PLAN, lambda _: None, cancel)
        caught.append(error.value)

    thread = threading.Thread(target=wait)
    thread.start()
    until(lambda: engine.status().words.startswith("Waiting"))
    cancel.cancel()
    thread.join()
    assert caught
    assert engine.status().state == "stopped"


def test_another_model_or_options_get_another_worker_and_the_memory(site: Site, fake: Path) -> None:
    hearth = site.process("one")
    session = hearth.session
    hearth.leave(LONG_S)
    engine = site.engine()
    asked: list[int] = []

    def plan() -> VllmPlan:
        asked.append(len(started_in(fake)))
        return PLAN

    engine.share("another", "It", plan, lambda _: None, CancelToken())
    assert asked == [0], "what nobody uses has ended before the memory is looked at"
    assert engine.worker is not None
    assert engine.worker.session != session


def test_a_card_s_memory_is_waited_for_where_a_worker_was_ended_for_it(site: Site) -> None:
    """A driver gives it back a little after the worker is gone."""
    free = [20 << 30]

    def look() -> Hardware:
        now = free.pop(0) if len(free) > 1 else free[0]
        card = Gpu("Test card", "nvidia", "CUDA", 24 << 30, now, False, "1.0", usable=True)
        return replace(MACHINE, gpus=(card,))

    installed = replace(Installed("0.32.0", "cpu", site.fake), profile="cuda")

    def engine() -> VllmEngine:
        return VllmEngine(
            lambda: installed,
            site.folder,
            lambda where, _: socket_client(Path(where)),
            look,
            grace_s=SHORT_GRACE_S,
        )

    first, second = engine(), engine()
    share(first, "one")
    first.leave(LONG_S)
    free[:] = [1 << 30] * 3 + [20 << 30]
    asked: list[int] = []

    def plan() -> VllmPlan:
        asked.append(free[0])
        return PLAN

    second.share("another", "It", plan, lambda _: None, CancelToken())
    assert asked == [20 << 30]
    second.close()


def test_what_somebody_uses_stays_beside_another_s(site: Site) -> None:
    hearth, engine = site.process("one"), site.engine()
    session = hearth.session
    assert share(engine, "another") != session
    assert hearth.ask() == " word0 word1"
    assert len(site.workers) == 2


def test_another_environment_s_worker_is_not_used(site: Site, tmp_path: Path) -> None:
    hearth = site.process()
    session = hearth.session
    for other in (
        Installed("0.33.0", "cpu", site.fake),
        make_fake(tmp_path / "other"),
    ):
        engine = site.engine(other)
        assert share(engine) != session
        engine.close()
    assert share(site.engine()) == session


def test_what_the_system_says_of_cards_makes_another_worker(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = site.process().session
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert share(site.engine()) != session


def test_somebody_else_at_the_door_is_not_believed(site: Site) -> None:
    hearth = site.process()
    session = hearth.session
    (worker,) = site.workers
    socket_path = socket_of(worker.place.scratch)
    socket_path.unlink()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as stranger:
        stranger.bind(str(socket_path))
        stranger.listen()
        threading.Thread(target=lie, args=(stranger,), daemon=True).start()
        assert worker.state() is None
        assert share(site.engine()) != session
    hearth.kill()


def lie(stranger: socket.socket) -> None:
    """Answer the first client as a guardian would."""
    connection, _ = stranger.accept()
    with connection, suppress(BrokenPipeError):  # a client that is not deceived has gone
        connection.sendall(b'{"users": 0, "left_s": 600}\n')


@pytest.mark.parametrize("seconds", ["", " soon", " nan", " inf", " -1", " 1 2"])
def test_a_malformed_leave_keeps_the_worker_for_its_users(site: Site, seconds: str) -> None:
    hearth = site.process()
    _ = hearth.session
    (worker,) = site.workers
    with shared.connect(worker.place.scratch, hearth.guardian) as stranger:
        stranger.sendall(f"join\nleave{seconds}\n".encode())
        with stranger.makefile("rb") as lines:
            assert any(b'"left"' in line for line in lines)
    assert worker.state() == (1, None)
    assert hearth.ask() == " word0 word1"


def test_a_worker_that_does_not_answer_is_not_used(site: Site) -> None:
    hearth = site.process()
    session = hearth.session
    (worker,) = site.workers
    assert worker.place.socket is not None
    worker.place.socket.unlink()
    engine = site.engine()
    assert share(engine) != session
    assert answer(engine, max_tokens=1) == " word0"


@pytest.mark.parametrize(
    "text", ["", "{}", "[]", '{"plan": 1}', '{"wanted": "it", "plan": {}}', "\0"]
)
def test_an_offer_that_cannot_be_read_is_none(site: Site, text: str) -> None:
    site.process().leave(LONG_S)
    (worker,) = site.workers
    offer = worker.place.scratch / "offer.json"
    whole = offer.read_text()
    assert offer.stat().st_mode & 0o777 == 0o600
    offer.write_text(text)
    assert site.workers == []
    offer.write_text(whole)
    worker.place.scratch.chmod(0o755)
    assert site.workers == [], "somebody else may have written there"
    worker.place.scratch.chmod(0o700)
    assert site.workers == [worker]


def test_a_guardian_that_is_killed_takes_the_worker_from_all(site: Site) -> None:
    hearth, engine = site.process(), site.engine()
    session = share(engine)
    assert hearth.session == session
    everything = members(hearth.guardian)
    os.kill(hearth.guardian, signal.SIGKILL)
    until(lambda: gone(everything))
    until(lambda: not engine.is_healthy)
    assert answer(engine, max_tokens=2) == " word0 word1"
    assert hearth.ask() == " word0 word1"
    (worker,) = site.workers
    assert worker.state() == (2, None), "the one that was started anew is shared again"


def test_a_guardian_that_hears_nothing_is_ended_with_its_worker(
    site: Site, fake: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (shared, supervised):
        monkeypatch.setattr(module, "LATE_S", 0.5)
    engine = site.engine()
    share(engine)
    assert engine.worker is not None
    os.kill(engine.worker.guardian, signal.SIGSTOP)
    engine.close()
    assert started_in(fake) == []


def test_a_crash_is_told_to_all_and_one_starts_it_for_both(site: Site) -> None:
    first, second = site.engine(), site.engine()
    session = share(first)
    assert share(second) == session
    os.kill(session, signal.SIGKILL)
    until(lambda: not first.is_healthy and not second.is_healthy)
    assert answer(first, max_tokens=1) == answer(second, max_tokens=1) == " word0"
    assert first.worker is not None
    assert second.worker is not None
    assert first.worker.session == second.worker.session


def test_it_can_be_ended_by_who_does_not_use_it(site: Site, fake: Path) -> None:
    hearth = site.process()
    _ = hearth.session
    (worker,) = site.workers
    assert not worker.end(force=False)
    hearth.leave(LONG_S)
    (worker,) = site.workers
    assert worker.end(force=False)
    assert started_in(fake) == []
    hearth = site.process()
    _ = hearth.session
    (worker,) = site.workers
    assert worker.end(force=True)
    assert started_in(fake) == []
    assert hearth.ask() == " word0 word1", "it starts it again"


def test_a_start_that_fails_offers_nothing(site: Site, fake: Path) -> None:
    behave(fake, fails=["(EngineCore pid=7) ERROR [core.py:1] ValueError: No"])
    with pytest.raises(EngineError):
        share(site.engine())
    assert started_in(fake) == []
    assert site.left == []


def test_a_long_log_that_nobody_reads_stops_no_worker(site: Site, fake: Path) -> None:
    behave(fake, chatters=True)
    hearth, engine = site.process(), site.engine()
    session = hearth.session
    os.kill(hearth.app.pid, signal.SIGSTOP)
    assert share(engine) == session
    assert answer(engine, max_tokens=300).endswith("word299")
    hearth.app.kill()


def test_comparing_drafts_is_nobody_else_s(site: Site) -> None:
    engine, other = site.engine(), site.engine()
    plan = replace(PLAN, drafter=ASSISTANT, draft_max=2)
    share(engine, plan=plan)
    engine.check_mtp(question(max_tokens=4), 2, CancelToken())
    share(other, plan=plan)
    assert other.status().state == "ready"
    assert answer(engine, max_tokens=1) == " word0"


def test_a_folder_that_cannot_be_written_is_said(site: Site) -> None:
    site.folder.parent.mkdir(exist_ok=True)
    site.folder.write_text("no folder")
    with pytest.raises(EngineFailed) as caught:
        share(site.engine())
    assert "folder cannot be written" in caught.value.why
    site.folder.unlink()
    runs_folder(site.folder).mkdir(parents=True)


def test_where_no_socket_can_be_nothing_is_shared(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scratch, "LONGEST_SOCKET", 10)
    import httpx2

    engine = VllmEngine(
        lambda: Installed("0.32.0", "cpu", site.fake),
        site.folder,
        lambda _where, _key: httpx2.Client(trust_env=False),
        lambda: MACHINE,
        grace_s=SHORT_GRACE_S,
    )
    share(engine)
    assert site.workers == []
    engine.leave(LONG_S)
    assert started_in(site.fake) == []


def test_its_adapters_change_while_one_hearth_uses_it_and_the_next_finds_it_so(
    site: Site, fake: Path, tmp_path: Path
) -> None:
    law, verse = adapter(tmp_path, "law"), adapter(tmp_path, "verse")
    engine = site.engine()
    session = share(engine, "law", replace(PLAN, adapters=(law,)))
    assert engine.adapt("both", (law, verse), CancelToken())
    other = site.engine()
    assert share(other, "both") == session
    assert answer(other, adapter="verse", max_tokens=2)
    assert not engine.adapt("law", (law,), CancelToken()), "the other goes on with both"
    assert answer(other, adapter="verse", max_tokens=2)
    other.close()
    assert engine.adapt("law", (law,), CancelToken())
    assert share(site.engine(), "law") == session
    assert (fake / "adapters.log").read_text().splitlines() == ["load verse", "unlo verse"]


def test_one_whose_adapters_would_not_change_is_nobody_elses(site: Site, tmp_path: Path) -> None:
    law, verse = adapter(tmp_path, "law"), adapter(tmp_path, "verse")
    behave(site.fake, refuses="verse")
    engine = site.engine()
    share(engine, "law", replace(PLAN, adapters=(law,)))
    assert not engine.adapt("verse", (verse,), CancelToken())
    assert site.workers == [], "what it has now is neither the one nor the other"
    share(engine, "verse", replace(PLAN, adapters=(verse,)))
    assert len(site.workers) == 1
