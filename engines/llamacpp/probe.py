"""Opens a model file in another process first, so that a bad file never crashes the app.

::

    probe = Probe(folder)
    probe.require_safe(plan, cancel)     # before anything native opens the plan's files
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Final

from engines.cancel import CancelToken
from engines.errors import EngineUnavailable, ModelRefused
from engines.helper.command import module_command
from engines.helper.parent import NoResult, ask_helper
from engines.llamacpp.probing.causes import Cause, cause_of
from engines.llamacpp.probing.protocol import (
    TEMPLATE_S,
    shaders_limit,
    stage_limit,
    stage_of,
    write_plan,
)
from engines.llamacpp.probing.record import SAFE, ProbeRecord, Stamps, files_of, identity, stamps
from engines.sentences import N_
from engines.types import LlamaPlan

COMMAND: Final = module_command("engines.llamacpp.probing.child")
"""The command that starts the process, which takes the plan as its last argument."""

MARGIN_S: Final = 15.0


class Probe:
    """Tries each file once for each version of the library, and remembers the outcome.

    Args:
        folder: The folder for a small file with the outcomes; None keeps them in memory only.
        trusted: Files that are not tried, because they came with the app.
        command: The command that starts the process.
    """

    def __init__(
        self,
        folder: Path | None = None,
        trusted: Collection[Path] = (),
        command: Sequence[str] = COMMAND,
    ) -> None:
        self._record = ProbeRecord(folder)
        self._trusted = frozenset(path.resolve() for path in trusted)
        self._command = tuple(command)

    def require_safe(self, plan: LlamaPlan, cancel: CancelToken) -> None:
        """Refuse a plan that cannot be loaded or does not answer.

        A refusal because of the file itself is remembered; see `forget`.

        Raises:
            ModelRefused: The plan ends a process.
            Cancelled: `cancel` was set.
            EngineError: Loading the plan raises this error.
        """
        if not plan.anyway and self.trusts(plan):
            return
        known = _identity(plan)
        why = self._record.get(known)
        if why is None or plan.anyway:
            before = stamps(plan)
            cause = self._try(plan, sum(size for size, _ in before), cancel)
            if _changed(plan, before):
                raise _refusal(plan, N_("It changed while it was tried."), _WAIT)
            if cause and not cause.lasting:
                raise _refusal(plan, cause.why, _LATER)
            why = cause.why if cause else SAFE
            self._record.keep(known, why)
        if why != SAFE:
            raise _refusal(plan, why, _ELSEWHERE)

    def trusts(self, plan: LlamaPlan) -> bool:
        """Return whether all files of the plan came with Hearth."""
        return all(path.resolve() in self._trusted for path in files_of(plan))

    def forget(self, plan: LlamaPlan) -> None:
        """Forget the verdict on the plan's files, so that they are tried again."""
        self._record.remove(_identity(plan))

    def _try(self, plan: LlamaPlan, size: int, cancel: CancelToken) -> Cause | None:
        """Try the plan in another process; return what ended the process, None if nothing did."""
        limit = TEMPLATE_S + 2 * (stage_limit(size) + shaders_limit(plan)) + MARGIN_S
        try:
            ask_helper(self._command, write_plan(plan), limit, cancel)
        except OSError as error:
            raise EngineUnavailable(
                N_("Models cannot be tried before they are loaded."),
                N_(
                    "The process for it does not start: {strerror}.",
                    strerror=error.strerror or error,
                ),
                N_("Close other programs and try again; if it fails again, reinstall Hearth."),
            ) from error
        except NoResult as error:
            return cause_of(error.ended, stage_of(error.ended))
        return None


_ELSEWHERE: Final = N_("Get the file from another place, or choose another model.")
_LATER: Final = N_("Close other programs and try again, or choose a smaller model.")
_WAIT: Final = N_("Wait until nothing writes to the file any more, and try again.")


def _refusal(plan: LlamaPlan, why: str, advice: str) -> ModelRefused:
    together = N_(" with the drafter “{name}”", name=plan.drafter.name) if plan.drafter else ""
    return ModelRefused(
        N_("“{name}”{together} cannot be opened safely.", name=plan.model.name, together=together),
        why,
        advice,
    )


def _identity(plan: LlamaPlan) -> str:
    try:
        return identity(plan)
    except OSError as error:
        raise _refusal(
            plan, N_("The system says: {strerror}.", strerror=error.strerror or error), _WAIT
        ) from error


def _changed(plan: LlamaPlan, before: Stamps) -> bool:
    try:
        return stamps(plan) != before
    except OSError:
        return True
