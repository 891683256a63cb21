"""How the suite runs: the exhaustive tests, the order of the tests, and how workers end."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import Container, Iterable
from typing import Any

import hypothesis
import pytest

EXAMPLES, FEW_EXAMPLES = 100, 25
"""The examples that hypothesis tries for each property, with `--all` and without."""

_workers: list[Any] = []

# The tests import a thousand modules in each worker, and start Hearth hundreds of times. Without
# the compiled files, each of these would compile all modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run the exhaustive tests as well")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exhaustive: run by `run.py test --all` alone, as CI does")
    count = EXAMPLES if config.getoption("--all") else FEW_EXAMPLES
    # No deadline: a busy computer takes its time.
    hypothesis.settings.register_profile("suite", max_examples=count, deadline=None)
    hypothesis.settings.load_profile("suite")


def sampled(cases: Iterable[Any], few: Container[Any]) -> list[Any]:
    """Return the values for `parametrize`, of which only a few run without `--all`.

    Args:
        cases: All values; a tuple has one for each parameter.
        few: Those that always run.
    """
    return [
        case
        if case in few
        else pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.exhaustive
        )
        for case in cases
    ]


@pytest.fixture(scope="session")
def exhaustive(pytestconfig: pytest.Config) -> bool:
    """Return True if a test with many cases is to try all of them."""
    return bool(pytestconfig.getoption("--all"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Any:
    """Disable garbage collection meanwhile: nearly everything stays, and this saves a third."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the exhaustive tests without `--all`, and put the longest tests first.

    The tests that may take longest are known by their time limit. A long test that begins last
    would keep one worker busy while the other has nothing left.
    """
    if not config.getoption("--all"):
        left_out = [item for item in items if item.get_closest_marker("exhaustive")]
        if left_out:
            config.hook.pytest_deselected(items=left_out)
            items[:] = [item for item in items if not item.get_closest_marker("exhaustive")]
    items.sort(key=_time_limit, reverse=True)


def _time_limit(item: pytest.Item) -> float:
    """Return the time limit of a test in seconds; 0 for the usual one."""
    marker = item.get_closest_marker("timeout")
    return float(marker.args[0]) if marker and marker.args else 0.0


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Remember a worker of pytest-xdist."""
    _workers.append(node.gateway)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> Any:
    """Fail the run if a worker crashed after its tests, which pytest-xdist does not check."""
    result = yield  # pytest-xdist waits here until its workers have ended
    for gateway in _workers:
        # execnet has no public way to get a worker's exit status.
        status = gateway._io.popen.poll()
        # pytest-xdist kills a worker that takes long to end, as happens on a busy machine.
        if status not in (None, 0, -signal.SIGKILL, -signal.SIGTERM):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
            reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
            sentence = f"ERROR: worker {gateway.id} ended with status {status} after its tests."
            reporter.write_line(f"\n{sentence}", red=True)
    return result
