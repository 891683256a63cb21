"""Scripted engines and servers, at the seams of the window's services."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from app.base.secret import SecretStatus
from app.models.discover.values.counterparts import Counterpart
from app.models.library.values.entry import ModelEntry
from app.runtime.values.advice import Advice, Situation, System, advise
from app.runtime.values.installation import (
    Check,
    Device,
    InstallState,
    LockName,
    Price,
    Step,
    WorkerState,
)
from app.servers.values import ServerInfo, ServerProfile
from engines.cancel import CancelToken
from engines.errors import Cancelled, EngineError, EngineUnavailable
from engines.vllm.provision.preflight import Finding

OFFERED = "0.33.0"
NOTHING = InstallState(None, None, None, OFFERED)
RESTS = WorkerState("stopped")
PRICE = Price(5_100_000_000, 24_000_000_000, 9_800_000_000, 25)
WELL = Finding(True, "NVIDIA RTX 4090 with 24 GB, driver 580.95.", "", "", "card")
IN_THE_WAY = Finding(
    False,
    "The disk has 12 GB free.",
    "vLLM takes 24 GB while it is made.",
    "Free 12 GB, or move Hearth’s data folder to another disk.",
    "disk",
)
STEPS = (
    Step("look", 0.0, "Checking this computer."),
    Step("download", 0.4, "torch 2.9.1: 350 of 870 MB."),
)


@dataclass
class ScriptedInstaller:
    """A scripted installer.

    Attributes:
        hold: An installation waits for it after the steps, unless cancelled.
        did: The calls so far.
    """

    now: InstallState = NOTHING
    findings: tuple[Finding, ...] = (WELL,)
    price: Price | None = PRICE
    linux: str = ""
    steps: Sequence[Step] = STEPS
    error: EngineError | None = None
    hold: threading.Event = field(default_factory=threading.Event)
    did: list[str] = field(default_factory=list)

    def usual_lock(self) -> LockName:
        return "cuda"

    def state(self) -> InstallState:
        return self.now

    def check(self, name: LockName) -> Check:
        self.did.append(f"check {name}")
        return Check(self.findings, self.price, self.linux)

    def install(self, name: LockName, tell: Callable[[Step], None], cancel: CancelToken) -> None:
        self.did.append(f"install {name}")
        for step in self.steps:
            tell(step)
        while not self.hold.wait(0.01):
            if cancel.cancelled:
                raise Cancelled
        if self.error is not None:
            raise self.error
        self.now = replace(self.now, version=OFFERED, profile="cuda", previous=self.now.version)

    def rollback(self) -> None:
        self.did.append("rollback")
        self.now = replace(self.now, version=self.now.previous, previous=self.now.version)

    def remove(self) -> None:
        self.did.append("remove")
        self.now = NOTHING


@dataclass
class ScriptedManager:
    """A scripted manager of engines.

    Attributes:
        did: The calls so far.
    """

    system: System = "linux"
    found: tuple[Device, ...] = ()
    fault: EngineUnavailable | None = None
    advice: Advice = field(default_factory=lambda: advise(Situation("linux")))
    others: tuple[Counterpart, ...] = ()
    runs: WorkerState = RESTS
    did: list[str] = field(default_factory=list)

    def devices(self, *, again: bool) -> tuple[Device, ...]:
        if self.fault is not None:
            raise self.fault
        if again:
            self.did.append("try again")
            self.found = tuple(replace(it, state="works", why="") for it in self.found)
        return self.found

    def advise(self) -> Advice:
        return self.advice

    def counterparts(self, _entry: ModelEntry) -> tuple[Counterpart, ...]:
        return self.others

    def fetch(self, other: Counterpart) -> None:
        self.did.append(f"fetch {other.repo}")

    def worker(self) -> WorkerState:
        return self.runs

    def stop_worker(self) -> None:
        self.did.append("stop worker")
        self.runs = RESTS

    def free_memory(self) -> None:
        self.did.append("free memory")


@dataclass
class ScriptedServers:
    """A scripted list of servers.

    Attributes:
        facts: What `test` returns or raises, by the server's address.
        environment: The variables with keys, by the names of servers.
    """

    kept: list[ServerProfile] = field(default_factory=list)
    facts: dict[str, ServerInfo | Exception] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    warning: str | None = None
    error: Exception | None = None
    environment: dict[str, str] = field(default_factory=dict)

    def list(self) -> Sequence[ServerProfile]:
        return tuple(self.kept)

    def save(
        self, profile: ServerProfile, key: str | None, *, take_key: bool = False
    ) -> ServerProfile:
        if self.error is not None:
            raise self.error
        saved = profile if profile.id else replace(profile, id=f"id-{profile.name}")
        if key is None and not take_key and self.origin_losing_key(saved):
            self.keys.pop(saved.id)
        self.kept = [it for it in self.kept if it.id != saved.id] + [saved]
        if key:
            self.keys[saved.id] = key
        elif key is not None:
            self.keys.pop(saved.id, None)
        return saved

    def origin_losing_key(self, profile: ServerProfile) -> str:
        before = next((it for it in self.kept if it.id == profile.id), profile)
        moved = before.origin != profile.origin and profile.id in self.keys
        return before.origin if moved else ""

    def remove(self, profile_id: str) -> None:
        self.kept = [it for it in self.kept if it.id != profile_id]
        self.keys.pop(profile_id, None)

    def key_variable(self, name: str) -> str:
        return self.environment.get(name, "")

    def key_status(self, profile: ServerProfile) -> SecretStatus:
        return SecretStatus(profile.id in self.keys, "memory", self.warning)

    def test(
        self, profile: ServerProfile, key: str | None, *, take_key: bool = False
    ) -> ServerInfo:
        found = self.facts[profile.address]
        if isinstance(found, Exception):
            raise found
        return found
