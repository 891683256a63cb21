"""A real vLLM that stays for the next command, and ends with its last user."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engines.vllm.offers import offered_workers
from engines.vllm.provision.home import Installed
from engines.vllm.scratch import runs_folder
from tests.engines.vllm.another import Hearth
from tests.engines.vllm.faked import gone, members
from tests.support.waiting import until

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="vLLM runs on Linux only"),
    pytest.mark.vllm,
]


def test_the_next_command_goes_on_with_it(vllm: Installed, tmp_path: Path) -> None:
    home = vllm.folder.parents[1]
    with Hearth(home, tmp_path, "it") as first:
        session, everything = first.session, members(first.guardian)
        said = first.ask()
        first.leave(600)
    assert not gone(everything)
    with Hearth(home, tmp_path, "it") as second, Hearth(home, tmp_path, "it") as third:
        assert (second.session, third.session) == (session, session)
        assert second.ask() == third.ask() == said
        (worker,) = offered_workers(tmp_path)
        everything |= members(second.guardian)
        second.kill()
        until(lambda: worker.state() == (1, None))
        assert third.ask() == said
        third.kill()
    until(lambda: gone(everything))
    assert list(runs_folder(tmp_path).iterdir()) == []
