"""Clients of the loopback Hub: the real huggingface_hub, and a plain one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from huggingface_hub import HfApi, close_session, constants, set_client_factory
from huggingface_hub.utils._http import default_client_factory
from huggingface_hub.utils.tqdm import tqdm

from tests.hub.testhub import TestHub


@pytest.fixture
def api(hub: TestHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HfApi]:
    """Return the real client, without anything that it does besides requests."""
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_TELEMETRY", True)
    # otherwise the progress bars of downloads start a thread that watches them for ever
    monkeypatch.setattr(tqdm, "monitor_interval", 0)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    set_client_factory(default_client_factory)
    yield HfApi(endpoint=hub.url, token=False)
    close_session()


@pytest.fixture
def plain() -> Iterator[httpx2.Client]:
    """Return a client that follows no redirect, and requests uncompressed bytes."""
    headers = {"Accept-Encoding": "identity"}
    with httpx2.Client(trust_env=False, timeout=60, headers=headers) as client:
        yield client
