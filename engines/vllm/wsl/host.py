"""The Linux inside Windows as the host of a worker."""

from __future__ import annotations

import logging
import subprocess
from pathlib import Path
from typing import Final

from engines.errors import EngineFailed, UserError
from engines.sentences import N_
from engines.vllm.command import WorkerPlace
from engines.vllm.host import LaunchContext
from engines.vllm.places import at_port, record_of
from engines.vllm.streams import Lines, follow_with_beats
from engines.vllm.wsl.distribution import Distribution
from engines.vllm.wsl.paths import reached

logger = logging.getLogger(__name__)

_END_S: Final = 20.0
"""Seconds that a guardian gets after wsl.exe has ended, before it is killed."""


class WslHost:
    """The Linux inside Windows as a `Host`; uses a port with a key, as sockets cannot be shared."""

    silence_s = 30.0
    in_wsl = True

    def __init__(self, distribution: Distribution) -> None:
        self._distribution = distribution

    def prepare(self, folder: Path) -> LaunchContext:
        """End the remains of earlier workers in the distribution, and make a place with a port."""
        folder.mkdir(parents=True, exist_ok=True)
        with self._distribution.open_session() as session:
            place_facts, drives = session.ask("prepare"), session.drives
        place = at_port(Path(place_facts["folder"]), Path(place_facts["scratch"]))
        return LaunchContext(
            place, place_facts["variables"], lambda path: self._reach(path, drives)
        )

    def guardian(self) -> subprocess.Popen[bytes]:
        """Start a guardian in the distribution. Raises OSError."""
        return self._distribution.guardian()

    def follow(self, guardian: subprocess.Popen[bytes], out: Lines, err: Lines) -> None:
        """Pass on the output, and send signs of life, until the streams end."""
        follow_with_beats(guardian, out, err)

    def settle(self, place: WorkerPlace) -> None:
        """Wait until nothing is left of a worker; an error is only logged."""
        record, scratch = record_of(place).as_posix(), place.scratch.as_posix()
        try:
            self._distribution.run_once("settle", record=record, scratch=scratch, limit_s=_END_S)
        except UserError as error:
            # The caller cannot do anything about it, and the next start cleans up.
            logger.warning("what is left of a worker could not be looked at: %s", error)

    def _reach(self, path: Path, drives: str) -> str:
        linux_path = reached(path, drives, self._distribution.name)
        if linux_path is None:
            raise EngineFailed(
                N_("{name} cannot be used by vLLM.", name=path.name),
                N_(
                    "It is on another computer, which {name} cannot reach.",
                    name=self._distribution.name,
                ),
                N_("Copy it to a drive of this computer."),
            )
        return linux_path
