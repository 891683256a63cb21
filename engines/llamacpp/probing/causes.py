"""Says in plain words why the probe's process ended. Pure."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from typing import Final

from engines.helper.parent import ProcessResult
from engines.llamacpp.probing.protocol import ANSWER, LOAD, TEMPLATE
from engines.sentences import N_

_STAGES: Final = {
    TEMPLATE: N_("its chat template ran"),
    LOAD: N_("it was loaded"),
    ANSWER: N_("it answered a first message"),
}
_ABORT: Final = re.compile(r"^\S+\.\w+:\d+: (.+)$", re.MULTILINE)
"""The output of GGML_ASSERT and GGML_ABORT: file, line, message."""

_TRACEBACK: Final = "Traceback (most recent call last)"
_EXCEPTION: Final = re.compile(r"what\(\):\s*(.+)")
_OUT_OF_MEMORY: Final = re.compile(
    r"std::bad_alloc|out of memory|failed to allocate|MemoryError"
    r"|Resource temporarily unavailable|can't start new thread"
)

# Windows ends a process with one of these instead of a signal.
_ACCESS_VIOLATION, _STACK_OVERFLOW, _DIVISION = 0xC0000005, 0xC00000FD, 0xC0000094
_BAD_INSTRUCTION = 0xC000001D


@dataclass(frozen=True)
class Cause:
    """The reason why a file is refused.

    Attributes:
        why: The reason, as one sentence.
        lasting: Whether the file itself causes it, so that it will happen again.
    """

    why: str
    lasting: bool


def cause_of(ended: ProcessResult, stage: str) -> Cause:
    """Return the cause of an end without a verdict.

    Args:
        stage: The last stage that began, or "".
    """
    code, stderr = ended.code, ended.err
    during = _STAGES.get(stage, N_("it was opened"))
    if not ended.in_time:
        if ended.stopped:
            why = N_("It was stopped from outside while {during}.", during=during)
        else:
            why = N_("It did not finish while {during}.", during=during)
        return Cause(why, lasting=stage == TEMPLATE and not ended.stopped)
    if _OUT_OF_MEMORY.search(stderr) or code == -_number("SIGKILL"):
        return Cause(N_("Memory ran out while {during}.", during=during), lasting=False)
    if messages := [*_EXCEPTION.findall(stderr), *_ABORT.findall(stderr)]:
        return Cause(
            N_(
                "llama.cpp gave up while {during}: “{words}”.",
                during=during,
                words=messages[-1].strip(),
            ),
            lasting=True,
        )
    if how := _HOW.get(code & 0xFFFFFFFF):
        return Cause(N_("llama.cpp {how} while {during}.", how=how, during=during), lasting=True)
    if _TRACEBACK in stderr:
        error = stderr.strip().rpartition("\n")[2]
        return Cause(
            N_(
                "Hearth's own Python code failed while {during}: “{error}”.",
                during=during,
                error=error,
            ),
            lasting=False,
        )
    return Cause(
        N_(
            "The process that tried it ended with code {code} while {during}.",
            code=code,
            during=during,
        ),
        lasting=False,
    )


def _number(name: str) -> int:
    """Return a signal's number; 0 if the system does not have it."""
    return int(getattr(signal, name, 0))


def _codes(name: str, windows: int) -> tuple[int, int]:
    return -_number(name) & 0xFFFFFFFF, windows


_HOW: Final = {
    code: how
    for codes, how in (
        (_codes("SIGSEGV", _ACCESS_VIOLATION), N_("read or wrote memory that is not its own")),
        (
            _codes("SIGBUS", _STACK_OVERFLOW),
            N_("read beyond the end of the file, or of its memory"),
        ),
        (_codes("SIGFPE", _DIVISION), N_("divided by zero")),
        (
            _codes("SIGILL", _BAD_INSTRUCTION),
            N_("used an instruction this processor does not know"),
        ),
        (_codes("SIGABRT", 3), N_("gave up")),
    )
    for code in codes
    if code
}
