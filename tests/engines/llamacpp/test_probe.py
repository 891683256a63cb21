"""The probe refuses files that end its process or keep it for ever; the app continues."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from engines.cancel import CancelToken
from engines.errors import (
    Cancelled,
    DrafterMismatch,
    EngineError,
    EngineFailed,
    EngineUnavailable,
    ModelDamaged,
    ModelRefused,
    TemplateFailed,
)
from engines.helper import clock
from engines.llamacpp import probe as probe_module
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.probe import COMMAND, Probe
from engines.llamacpp.probing import child
from engines.llamacpp.probing.protocol import read_plan, write_plan
from engines.types import LlamaPlan, LoadedModel
from tests.engines.contract import answer, ask
from tests.engines.llamacpp.random_models import STARTER, byte_tokenizer, write_random_llama
from tests.faults.gguf_parts import put_together, scalar, take_apart
from tests.support.crowded import crowded
from tests.support.paths import ROOT
from tests.support.suite import sampled
from tests.support.waiting import until

DRAFTER = STARTER.with_name("starter-mtp.gguf")
PLAN = LlamaPlan(STARTER, context=512, threads=1, batch_threads=1, drafter=DRAFTER)
NO_COMMAND = (str(Path(__file__).parent / "there-is-no-such-program"),)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals")


def script(text: str) -> tuple[str, ...]:
    """Return a command for a probe whose process runs `text`."""
    return (sys.executable, "-c", f"import json, os, signal, sys, time\n{text}")


def real(change: str) -> tuple[str, ...]:
    """Return a command for the real process, after `change` was made to its module `child`."""
    start = "from engines.llamacpp.probing import child"
    return script(f"{start}\n{change}\nchild.main(sys.argv[1:])")


def refusal(plan: LlamaPlan, command: tuple[str, ...], folder: Path | None = None) -> EngineError:
    with pytest.raises(EngineError) as caught:
        Probe(folder, command=command).require_safe(plan, CancelToken())
    for part in (caught.value.what, caught.value.why, caught.value.do):
        assert part.endswith(".")
    return caught.value


def model(path: Path, template: str | None = None, **numbers: tuple[str, float]) -> LlamaPlan:
    """Return a plan for a small model with changed values.

    Args:
        path: The file to write.
        template: Its chat template.
        numbers: The end of a key and its value, by any name.
    """
    write_random_llama(path, tokenizer=byte_tokenizer("gpt-2", template))
    parts = take_apart(path.read_bytes())
    for key, number in numbers.values():
        value = next(value for value in parts.values if value.key.endswith(key.encode()))
        value.data = scalar(value.kind, number)
    path.write_bytes(put_together(parts))
    return LlamaPlan(path, context=256, threads=1, batch_threads=1, draft_max=0)


ABORTS = (
    "sys.stderr.write('/x/ops.cpp:12: GGML_ASSERT(n > 0) failed\\n')\n"
    "sys.stderr.flush()\n"
    "os.abort()"
)
SAFE = "print(json.dumps({'result': None}))"


def test_a_pair_that_works_is_safe() -> None:
    Probe().require_safe(PLAN, CancelToken())


def test_what_was_tried_is_not_tried_again(tmp_path: Path) -> None:
    Probe(tmp_path, command=script(SAFE)).require_safe(PLAN, CancelToken())
    later = Probe(tmp_path, command=NO_COMMAND)
    later.require_safe(PLAN, CancelToken())
    for other in (replace(PLAN, kv_type="q8_0"), replace(PLAN, drafter=None)):
        with pytest.raises(EngineUnavailable):
            later.require_safe(other, CancelToken())


def test_in_memory_it_is_remembered_as_well(tmp_path: Path) -> None:
    once = f"open({str(tmp_path / 'tried')!r}, 'x')\n"
    probe = Probe(command=script(once + SAFE))
    for _ in range(2):
        probe.require_safe(PLAN, CancelToken())


def test_what_came_with_the_app_needs_no_trying(tmp_path: Path) -> None:
    probe = Probe(trusted=(STARTER, DRAFTER), command=NO_COMMAND)
    probe.require_safe(PLAN, CancelToken())
    other = shutil.copy2(DRAFTER, tmp_path / "other.gguf")
    with pytest.raises(EngineUnavailable):
        probe.require_safe(replace(PLAN, drafter=Path(other)), CancelToken())


def test_an_abort_is_refused_once_and_for_all(tmp_path: Path) -> None:
    error = refusal(PLAN, script(ABORTS), tmp_path)
    assert type(error) is ModelRefused
    assert "“GGML_ASSERT(n > 0) failed”" in error.why
    later = refusal(PLAN, NO_COMMAND, tmp_path)
    assert type(later) is ModelRefused
    assert later.why == error.why


def test_a_refused_file_can_be_tried_again(tmp_path: Path) -> None:
    refusal(PLAN, script(ABORTS), tmp_path)
    probe = Probe(tmp_path, command=script(SAFE))
    with pytest.raises(ModelRefused):
        probe.require_safe(PLAN, CancelToken())
    probe.forget(PLAN)
    probe.require_safe(PLAN, CancelToken())


@POSIX
def test_memory_that_runs_out_says_nothing_of_the_file(tmp_path: Path) -> None:
    error = refusal(PLAN, script("os.kill(os.getpid(), signal.SIGKILL)"), tmp_path)
    assert type(error) is ModelRefused
    assert "Memory" in error.why
    Probe(tmp_path, command=script(SAFE)).require_safe(PLAN, CancelToken())


@pytest.mark.parametrize("end", ["", "sys.exit(3)", 'print(\'{"stage": "load"}\')', "1 / 0"])
def test_an_end_without_a_verdict_is_no_consent(end: str) -> None:
    assert type(refusal(PLAN, script(end))) is ModelRefused


def test_a_process_that_stays_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock, "STALLED_S", 0.5)
    monkeypatch.setattr(probe_module, "TEMPLATE_S", 0.5)
    monkeypatch.setattr(probe_module, "stage_limit", lambda _: 0.0)
    monkeypatch.setattr(probe_module, "MARGIN_S", 0.0)
    error = refusal(PLAN, script("time.sleep(600)"))
    assert type(error) is ModelRefused
    assert "did not finish" in error.why


def test_the_errors_of_the_engine_come_through() -> None:
    verdict = {
        "error": "DrafterMismatch",
        "what": "Not so.",
        "why": "It is not.",
        "do": "Leave it.",
        "terminal": "Go.",
    }
    error = refusal(PLAN, script(f"print(json.dumps({verdict!r}))"))
    assert type(error) is DrafterMismatch
    assert (error.what, error.why, error.do, error.terminal) == tuple(verdict.values())[1:]


def test_much_noise_on_standard_error_is_no_obstacle() -> None:
    noise = "sys.stderr.write('x' * 1_000_000); sys.stderr.flush()\n"
    Probe(command=script(noise + SAFE)).require_safe(PLAN, CancelToken())


def test_a_cancel_ends_the_process() -> None:
    cancel = CancelToken()
    begun = threading.Timer(0.3, cancel.cancel)
    begun.start()
    with pytest.raises(Cancelled):
        Probe(command=script("time.sleep(600)")).require_safe(PLAN, cancel)
    begun.join()


def test_a_cancel_before_the_start_ends_it_too() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(Cancelled):
        Probe(command=script("time.sleep(600)")).require_safe(PLAN, cancel)


def test_a_file_that_changes_meanwhile_is_not_safe(tmp_path: Path) -> None:
    plan = model(tmp_path / "changing.gguf")
    touch = "path = json.loads(sys.argv[1])['model']; open(path, 'ab').write(b'more')\n"
    error = refusal(plan, script(touch + SAFE), tmp_path)
    assert type(error) is ModelRefused
    assert "changed" in error.why
    Probe(tmp_path, command=script(SAFE)).require_safe(plan, CancelToken())


@POSIX
def test_a_file_that_is_cut_while_it_is_mapped_harms_only_the_process(tmp_path: Path) -> None:
    plan = model(tmp_path / "cut.gguf")
    cut = (
        "load = child.LlamaCppEngine.load\n"
        "def cutting(engine, plan, *rest):\n"
        "    load(engine, plan, *rest)\n"
        "    os.truncate(plan.model, 4096)\n"
        "child.LlamaCppEngine.load = cutting"
    )
    assert "changed" in refusal(plan, real(cut)).why


NO_GUARDS = "from engines.models.gguf import guards; guards.check = lambda *_: None"


def test_what_no_guard_knows_ends_only_the_process(tmp_path: Path) -> None:
    """This is a real assertion of llama.cpp; with the guard the header is refused."""
    plan = model(tmp_path / "epsilon.gguf", epsilon=("rms_epsilon", -1.0))
    error = refusal(plan, real(NO_GUARDS))
    assert type(error) is ModelRefused
    assert "GGML_ASSERT(eps >= 0.0f) failed" in error.why
    assert type(refusal(plan, COMMAND)) is ModelDamaged


@pytest.mark.exhaustive
def test_a_library_that_comes_to_no_end_is_ended(tmp_path: Path) -> None:
    """If no values of a head are to be rotated, llama.cpp loops for ever."""
    parts = take_apart(STARTER.read_bytes())
    value = next(v for v in parts.values if v.key == b"gemma4.rope.dimension_count")
    value.data = scalar(value.kind, 0)
    path = tmp_path / "circle.gguf"
    path.write_bytes(put_together(parts))
    plan = replace(PLAN, model=path, drafter=None, draft_max=0)
    error = refusal(plan, real(f"{NO_GUARDS}; child.stage_limit = lambda _: 6.0"))
    assert type(error) is ModelRefused
    assert "did not finish while it answered" in error.why


def test_two_that_are_no_pair_harm_only_the_process(tmp_path: Path) -> None:
    """llama.cpp itself checks little of the things that a drafter shares with its target."""
    parts = take_apart(DRAFTER.read_bytes())
    for key, number in (("head_count_kv", 2), ("key_length", 32), ("embedding_length_out", 64)):
        value = next(v for v in parts.values if v.key.endswith(key.encode()))
        value.data = scalar(value.kind, number)
    other = tmp_path / "other.gguf"
    other.write_bytes(put_together(parts))
    plan = replace(PLAN, drafter=other)
    assert isinstance(refusal(plan, COMMAND), EngineError)
    unpaired = "import engines.llamacpp.engine as e; e.require_pair = lambda *_: None"
    assert isinstance(refusal(plan, real(f"{NO_GUARDS}; {unpaired}")), EngineError)


def test_values_that_are_no_numbers_are_found(tmp_path: Path) -> None:
    plan = model(tmp_path / "nan.gguf")
    data = bytearray(plan.model.read_bytes())
    data[-2:] = b"\xff\x7f"
    plan.model.write_bytes(data)
    assert type(refusal(plan, COMMAND)) is ModelDamaged


ENDLESS = {
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "one long computation": "{{ (7 ** 9999999) ** 9999 }}",
}


@pytest.mark.parametrize("template", sampled(ENDLESS, ["one long computation"]))
def test_a_template_without_an_end_is_refused(tmp_path: Path, template: str) -> None:
    """The second one never lets another thread of Python run."""
    error = refusal(model(tmp_path / "endless.gguf", ENDLESS[template]), COMMAND)
    assert type(error) is TemplateFailed
    assert "5 seconds" in error.why


@LINUX
@pytest.mark.parametrize("others", sampled([0, 2], [0]))
def test_a_template_that_eats_memory_is_stopped(tmp_path: Path, others: int) -> None:
    template = (
        "{% set ns = namespace(x='abcdefgh') %}"
        "{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}{{ ns.x[:9] }}"
    )
    plan = model(tmp_path / "hungry.gguf", template)
    with crowded(others):
        error = refusal(plan, COMMAND)
    assert type(error) is TemplateFailed
    assert "512 MB" in error.why


@pytest.mark.parametrize("deep", ["(" * 5000 + ")" * 5000, "[" * 300 + "]" * 300, "not " * 50000])
def test_a_deeply_nested_template_is_an_error(tmp_path: Path, deep: str) -> None:
    plan = model(tmp_path / "deep.gguf", "{{ " + deep + " }}{{ messages[0].content }}")
    assert type(refusal(plan, COMMAND)) is TemplateFailed


def test_the_engine_asks_its_probe_first(tmp_path: Path) -> None:
    engine = LlamaCppEngine(probe=Probe(command=script(ABORTS)))
    with pytest.raises(ModelRefused):
        engine.load(PLAN, lambda _: None, CancelToken())
    with pytest.raises(EngineFailed):
        answer(engine, ask("Hello"))
    engine = LlamaCppEngine(probe=Probe(tmp_path))
    engine.load(PLAN, lambda _: None, CancelToken())
    assert answer(engine, ask("Hello"))
    engine.close()


@pytest.fixture
def app(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], int]]:
    """Start a process that waits for its probe; yield it and the id of the probe's process."""
    said = tmp_path / "pid"
    waiting = real(f"child.examine = lambda *_: (open({str(said)!r}, 'w').write(str(os.getpid())),"
                   " time.sleep(600))")  # fmt: skip
    text = (
        "from engines.cancel import CancelToken\n"
        "from engines.llamacpp.probe import Probe\n"
        "from engines.llamacpp.probing.protocol import read_plan\n"
        f"Probe(command={waiting!r}).require_safe(read_plan({write_plan(PLAN)!r}), CancelToken())"
    )
    with subprocess.Popen([sys.executable, "-c", text], env=_environment()) as process:
        until(lambda: said.exists() and said.read_text())
        yield process, int(said.read_text())
        process.kill()


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT)}


def test_it_ends_when_the_app_does(app: tuple[subprocess.Popen[bytes], int]) -> None:
    process, number = app
    probe = psutil.Process(number)
    process.kill()
    process.wait()
    assert probe.wait(timeout=30) is None or not probe.is_running()


def test_what_is_to_be_loaded_anyway_is_tried_even_if_it_came_with_the_app() -> None:
    trusting = Probe(trusted=(STARTER, DRAFTER), command=script("sys.exit(3)"))
    trusting.require_safe(PLAN, CancelToken())
    with pytest.raises(ModelRefused):
        trusting.require_safe(replace(PLAN, anyway=True), CancelToken())


@pytest.mark.parametrize(("anyway", "context"), [(False, 2048), (True, 4096)])
def test_where_memory_may_run_out_the_whole_context_is_tried(
    monkeypatch: pytest.MonkeyPatch, anyway: bool, context: int
) -> None:
    tried: list[LlamaPlan] = []
    load = LlamaCppEngine.load

    def seeing(engine: LlamaCppEngine, plan: LlamaPlan, *rest: Any) -> LoadedModel:
        tried.append(plan)
        return load(engine, plan, *rest)

    monkeypatch.setattr(LlamaCppEngine, "load", seeing)
    child.examine(replace(PLAN, context=4096, anyway=anyway), lambda *_: None)
    assert [plan.context for plan in tried] == [context]


@LINUX
def test_it_gives_way_to_everything_else() -> None:
    text = (
        "import json, os, resource, signal\n"
        "from engines.helper.child import lower_priority\n"
        "before = os.nice(0); lower_priority()\n"
        "print(json.dumps([os.nice(0) - before, resource.getrlimit(resource.RLIMIT_CORE)[0],"
        " int(open('/proc/self/oom_score_adj').read()),"
        " signal.getsignal(signal.SIGINT) == signal.SIG_IGN]))"
    )
    command = [sys.executable, "-c", text]
    said = json.loads(subprocess.run(command, env=_environment(), stdout=-1).stdout)
    assert said == [5, 0, 1000, True]


def test_a_plan_arrives_as_it_was_sent() -> None:
    for plan in (PLAN, replace(PLAN, drafter=None, model=Path("\udce9 “ü”.gguf"))):
        assert read_plan(write_plan(plan)) == plan
