"""The process for chat templates, which could otherwise hang the app or exhaust its memory."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing

import psutil
import pytest

from engines.cancel import CancelToken
from engines.dialect import Dialect
from engines.dialect.template_process import TemplateProcess
from engines.errors import Cancelled, EngineUnavailable, TemplateFailed, TemplateRefused
from engines.types import Message
from tests.engines.dialects import template_processes, wait_for_rendering
from tests.support.crowded import CROWDS, crowded
from tests.support.paths import ROOT
from tests.support.suite import sampled

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
LOOPS = "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
SLOW = {
    "loops that write nothing": LOOPS,
    "a macro that calls itself": (
        "{% macro twice(n) %}{% if n %}{{ twice(n - 1) }}{{ twice(n - 1) }}{% endif %}"
        "{% endmacro %}"
        "{{ twice(60) }}"
    ),
    "a number without an end": "{% set n = (7 ** (messages | length * 9999999)) ** 9999 %}",
    "a sort over and over": (
        "{% for a in range(99999) %}{% set s = range(99999) | reverse | sort %}{% endfor %}"
    ),
}
HUNGRY = {
    "a text that doubles": (
        "{% set ns = namespace(x='abcdefgh') %}"
        "{% for i in range(40) %}{% set ns.x = ns.x ~ ns.x %}{% endfor %}"
    ),
    "a text that is repeated": "{% set x = 'x' * (messages | length * 9999999999) %}",
    "a list that is repeated": "{% set x = messages * 999999999 %}",
    "a wide format": "{% set x = '%9999999999d' % 1 %}",
    "a wide column": "{% set x = 'x'.ljust(9999999999) %}",
    "a list that grows": (
        "{% set ns = namespace(x=[1]) %}"
        "{% for i in range(40) %}{% set ns.x = ns.x + ns.x %}{% endfor %}"
    ),
    "a macro that collects": (
        "{% macro much() %}{% for a in range(99999) %}{% for b in range(99999) %}"
        "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx{% endfor %}{% endfor %}{% endmacro %}"
        "{% set x = much() %}"
    ),
}
ENDLESS = {
    "one piece after the other": LOOPS.replace("%}{% endfor", "%}x{% endfor", 1),
    "large pieces": "{% for a in range(99999) %}{{ 'x' * 999999 }}{% endfor %}",
}


def turning(evil: str) -> str:
    """Return a harmless template that turns evil when a message begins with the word."""
    return (
        f"{{% if messages[0].content.startswith('EVIL') %}}{evil}{{% endif %}}"
        "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
    )


def said(text: str) -> list[dict[str, object]]:
    return [{"role": "user", "content": text}]


@pytest.fixture
def kind() -> Iterator[TemplateProcess]:
    with closing(TemplateProcess(turning(LOOPS), limit_s=60.0)) as process:
        yield process


EVIL = {**SLOW, **HUNGRY, **ENDLESS}
FEW_EVIL = (
    "loops that write nothing", "a number without an end", "a text that doubles",
    "a macro that collects", "large pieces",
)  # fmt: skip


@pytest.mark.parametrize("evil", sampled(EVIL, FEW_EVIL))
def test_a_template_that_turns_evil_is_stopped_and_the_next_message_answered(evil: str) -> None:
    before = psutil.Process().memory_info().rss
    with closing(TemplateProcess(turning(EVIL[evil]), limit_s=1.0)) as process:
        assert process.run(said("Hello"), {}) == "user: Hello\n"
        with pytest.raises(TemplateFailed) as caught:
            process.run(said("EVIL"), {})
        assert caught.value.do
        assert process.run(said("Hello again"), {}) == "user: Hello again\n"
    assert psutil.Process().memory_info().rss - before < 200 << 20
    assert not template_processes()


@pytest.mark.parametrize("evil", SLOW.values(), ids=SLOW)
def test_too_much_time_is_named(evil: str) -> None:
    with (
        closing(TemplateProcess(turning(evil), limit_s=0.5)) as process,
        pytest.raises(TemplateFailed, match=r"after 0.5 seconds"),
    ):
        process.run(said("EVIL"), {})


@pytest.mark.parametrize("evil", HUNGRY.values(), ids=HUNGRY)
def test_too_much_memory_is_named(evil: str) -> None:
    with (
        closing(TemplateProcess(turning(evil), limit_s=60.0)) as process,
        pytest.raises(TemplateFailed, match="512 MB"),
    ):
        process.run(said("EVIL"), {})


@CROWDS
@pytest.mark.parametrize(
    "name", sampled(["a macro that collects", "a list that grows"], ["a list that grows"])
)
def test_too_much_memory_is_named_on_a_busy_computer(name: str) -> None:
    with (
        crowded(2),
        closing(TemplateProcess(turning(HUNGRY[name]))) as process,
        pytest.raises(TemplateFailed, match="512 MB"),
    ):
        process.run(said("EVIL"), {})


@CROWDS
def test_a_template_that_works_hard_does_so_on_a_busy_computer() -> None:
    hard = "{% for a in range(2600) %}{% for b in range(2600) %}{% endfor %}{% endfor %}"
    with crowded(2), closing(TemplateProcess(turning(hard), stalled_s=60.0)) as process:
        assert process.run(said("EVIL"), {}) == "user: EVIL\n"


def test_a_template_that_is_evil_while_it_is_compiled_is_stopped() -> None:
    with pytest.raises(TemplateFailed, match="after 1 seconds"):
        TemplateProcess("{{ (7 ** 9999999) ** 9999 }}", limit_s=1.0)
    with pytest.raises(TemplateFailed, match="not written correctly"):
        TemplateProcess("{% for %}")
    assert not template_processes()


def test_a_cancel_ends_a_rendering_and_one_that_waits_for_it(kind: TemplateProcess) -> None:
    cancel, waiting = CancelToken(), CancelToken()
    ended: list[str] = []

    def render(name: str, token: CancelToken) -> None:
        try:
            kind.run(said("EVIL"), {}, cancel=token)
        except Cancelled:
            ended.append(name)

    first = threading.Thread(target=render, args=("first", cancel))
    second = threading.Thread(target=render, args=("second", waiting))
    [child] = template_processes()
    first.start()
    wait_for_rendering(child)
    second.start()
    waiting.cancel()
    second.join(30)
    assert ended == ["second"]
    cancel.cancel()
    first.join(30)
    assert ended == ["second", "first"]
    assert kind.run(said("Hello"), {}) == "user: Hello\n"


def test_closing_ends_a_rendering(kind: TemplateProcess) -> None:
    failed = threading.Event()

    def render() -> None:
        with pytest.raises(TemplateFailed):
            kind.run(said("EVIL"), {})
        failed.set()

    thread = threading.Thread(target=render)
    [child] = template_processes()
    thread.start()
    wait_for_rendering(child)
    kind.close()
    assert failed.wait(30)
    thread.join()
    with pytest.raises(TemplateFailed):
        kind.run(said("Hello"), {})


@POSIX
def test_a_process_that_was_killed_is_started_again(kind: TemplateProcess) -> None:
    [child] = template_processes()
    child.kill()
    child.wait()
    assert kind.run(said("Hello"), {}) == "user: Hello\n"


@POSIX
def test_a_process_that_stands_still_is_given_up() -> None:
    with closing(TemplateProcess(turning(""), limit_s=0.5, stalled_s=0.5)) as process:
        [child] = template_processes()
        os.kill(child.pid, signal.SIGSTOP)
        with pytest.raises(TemplateFailed, match="seconds"):
            process.run(said("x" * 10_000_000), {})


def test_a_process_that_does_not_start_is_an_error() -> None:
    with pytest.raises(EngineUnavailable):
        TemplateProcess("x", ("hearth-no-such-program",))
    with pytest.raises(TemplateFailed, match="has ended"):
        TemplateProcess("x", (sys.executable, "-c", "pass"))
    assert not template_processes()


@POSIX
def test_an_endless_template_does_not_outlive_the_app() -> None:
    """If the app is killed while its template loops, the process still has its own limit."""
    source = (
        "import sys\n"
        "from engines.dialect import template_child\n"
        "template_child.HARD_LIMIT_S = 1.0\n"
        "template_child.main()\n"
    )
    process = TemplateProcess(turning(LOOPS), (sys.executable, "-c", source), limit_s=60.0)
    with closing(process), pytest.raises(TemplateFailed, match="seconds"):
        process.run(said("EVIL"), {})


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits memory like this")
def test_a_limit_of_the_app_is_kept() -> None:
    program = (
        "import resource\n"
        "from contextlib import closing\n"
        "from engines.dialect.template_process import TemplateProcess\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (200 << 20, 200 << 20))\n"
        "with closing(TemplateProcess('{{ messages[0].content }}')) as process:\n"
        "    print(process.run([{'role': 'user', 'content': 'Hello'}], {}))\n"
    )
    command = [sys.executable, "-c", program]
    said = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert said.stdout == "Hello\n", said.stderr


def test_a_template_cannot_see_the_users_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    with closing(TemplateProcess(turning(""))):
        [child] = template_processes()
        assert "HF_TOKEN" not in child.environ()


def test_what_a_template_refuses_is_told_as_in_process() -> None:
    template = turning("{{ raise_exception('Not with me é') }}")
    with (
        closing(TemplateProcess(template)) as process,
        pytest.raises(TemplateRefused, match="Not with me é"),
    ):
        process.run(said("EVIL"), {})


def test_long_conversations_of_all_scripts_come_back_whole() -> None:
    turns = [Message("user" if at % 2 == 0 else "assistant", f"é ☃ 你好 {at} " * 2000)
             for at in range(41)]  # fmt: skip
    template = "{% for m in messages %}{{ m.content }}{% endfor %}"
    with closing(Dialect(template)) as dialect:
        assert dialect.render(turns).text == "".join(turn.text for turn in turns)
    with closing(Dialect(template, trusted=True)) as dialect:
        assert dialect.render(turns).text == "".join(turn.text for turn in turns)
    assert not template_processes()


def test_a_text_may_come_in_the_prompt_more_than_once() -> None:
    text = "word " * 400_000
    with closing(TemplateProcess("{{ messages[0].content * 3 }}")) as process:
        assert process.run(said(text), {}) == text * 3
    with (
        closing(TemplateProcess("{{ messages[0].content * 30 }}")) as process,
        pytest.raises(TemplateFailed, match="no end"),
    ):
        process.run(said(text), {})
