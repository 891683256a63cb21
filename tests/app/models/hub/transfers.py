"""Transfers from the loopback Hub for tests, with the app's own gate and few retries."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from app.models.hub.limiter import Limiter
from app.models.hub.retry import Patience
from app.models.hub.source import Source
from app.models.hub.transfer import Receiving, Retrying, StartedAnew, Step, Terms, transfer
from app.net import Gate
from app.net.values.connections import LoggedConnection
from engines.cancel import CancelToken
from tests.hub.contents import Made
from tests.hub.testhub import TestHub

REPO = "ada/Small-GGUF"
NAME = "small-Q4_K_M.gguf"
CONTENT = Made(3_000_000, seed=1, head=b"GGUF")
BYTES = CONTENT.read(0, CONTENT.size)
SHA256 = hashlib.sha256(BYTES).hexdigest()

QUICK = Patience(attempts=6, first_s=0.01, most_s=0.05)


@dataclass
class Told:
    """A record of a transfer's steps in order; consecutive steps of receiving count as one."""

    steps: list[Step] = field(default_factory=list)

    def __call__(self, step: Step) -> None:
        if self.steps and isinstance(step, Receiving) and isinstance(self.steps[-1], Receiving):
            self.steps.pop()
        self.steps.append(step)

    @property
    def retries(self) -> list[Retrying]:
        return [step for step in self.steps if isinstance(step, Retrying)]

    @property
    def restarts(self) -> list[StartedAnew]:
        return [step for step in self.steps if isinstance(step, StartedAnew)]


def source(hub: TestHub, token: str | None = None) -> Source:
    url = f"{hub.url}/{REPO}/resolve/{hub.commit(REPO)}/{NAME}"
    return Source(url, REPO, NAME, CONTENT.size, SHA256, token)


def bring(
    wanted: Source,
    path: Path,
    *,
    patience: Patience = QUICK,
    stall_s: float = 60.0,
    limiter: Limiter | None = None,
    told: Callable[[Step], None] | None = None,
    cancel: CancelToken | None = None,
    ledger: list[LoggedConnection] | None = None,
) -> Told:
    """Run a transfer and return its record."""
    heard = Told()

    def tell(step: Step) -> None:
        heard(step)
        if told is not None:
            told(step)

    terms = Terms(limiter or Limiter(), patience, connect_s=60.0, stall_s=stall_s)
    gate = Gate((ledger if ledger is not None else []).append, lambda: True)
    try:
        with gate.for_purpose("download a model"):
            transfer(gate.client, wanted, path, terms, tell, cancel or CancelToken())
    finally:
        gate.close()
    return heard
