"""The reason for the end of the probe's process, in plain words."""

from __future__ import annotations

import signal
import sys

import pytest

from engines.helper.parent import ProcessResult
from engines.llamacpp.probing.causes import cause_of
from engines.llamacpp.probing.protocol import ANSWER, LOAD, TEMPLATE

if sys.platform == "win32":
    pytest.skip("Windows has no signals", allow_module_level=True)

LOG = "llama_model_load: a line\n"
ENDS = [
    (
        -signal.SIGABRT,
        LOAD,
        LOG + "/a/b.cpp:7: GGML_ASSERT(a == b) failed\n",
        "GGML_ASSERT(a",
        True,
    ),
    (-signal.SIGABRT, ANSWER, "ops.cpp:7: fatal error\n", "while it answered", True),
    (-signal.SIGABRT, LOAD, "terminate called\n  what():  map::at\n", "“map::at”", True),
    (-signal.SIGABRT, LOAD, "  what():  std::bad_alloc\n", "Memory ran out", False),
    (-signal.SIGSEGV, TEMPLATE, LOG, "memory that is not its own", True),
    (0xC0000005, LOAD, "", "memory that is not its own", True),
    (0xC00000FD, LOAD, "", "beyond the end", True),
    (-signal.SIGFPE, LOAD, "", "divided by zero", True),
    (-signal.SIGILL, LOAD, "", "instruction", True),
    (1, LOAD, "Traceback (most recent call last):\nKeyError: 'x'\n", "KeyError: 'x'", False),
    (2, "", "", "code 2 while it was opened", False),
]


@pytest.mark.parametrize(("code", "stage", "stderr", "expected", "lasting"), ENDS)
def test_the_end_of_a_process_has_a_reason(
    code: int, stage: str, stderr: str, expected: str, lasting: bool
) -> None:
    cause = cause_of(ProcessResult(code, b"", stderr, in_time=True), stage)
    assert expected in cause.why
    assert cause.lasting == lasting


@pytest.mark.parametrize(
    ("stage", "expected", "lasting"),
    [
        (TEMPLATE, "did not finish while its chat template", True),
        (LOAD, "did not finish while it was loaded", False),
    ],
)
def test_an_end_at_a_limit_has_one_too(stage: str, expected: str, lasting: bool) -> None:
    cause = cause_of(ProcessResult(-signal.SIGABRT, b"", "std::bad_alloc", in_time=False), stage)
    assert expected in cause.why
    assert cause.lasting == lasting
