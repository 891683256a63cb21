"""`hearth bench`: its table, its JSON and its exit statuses."""

from __future__ import annotations

import json
import os
import signal
import threading

import pytest

from engines.errors import MtpUnavailable
from engines.types import MtpCheck, MtpReport
from tests.support.scripted import ScriptedEngine
from tests.support.terminal import Hearth
from tests.support.waiting import until

RUNS = MtpReport("on", True, "MTP on: 2 tokens ahead", "drafter", 2, 12, 9, 1.4, 1.5)


def test_the_table_has_every_kind_and_mode(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.reports = [RUNS]
    assert hearth("bench", "--rounds", "2") == 0
    lines = capsys.readouterr().out.splitlines()
    starts = [tuple(row.split()[:2]) for row in lines]
    for kind in ("code", "prose", "copying", "chat"):
        for mode in ("off", "auto", "on"):
            assert (kind, mode) in starts
    measured = next(row for row in lines if row.startswith("code") and RUNS.reason in row)
    for figure in ("100", "1.00x", "1.50x", "75%"):
        assert figure in measured.split()


def test_json_holds_the_figures_and_one_mode_is_beside_off(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("bench", "--mtp", "on", "--rounds", "1", "--tokens", "9", "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["model"], value["rounds"], value["concurrency"]) == ("starter", 1, 1)
    assert [kind["kind"] for kind in value["kinds"]] == ["code", "prose", "copying", "chat"]
    off, on = value["kinds"][0]["modes"]
    assert (off["mode"], off["gain"], off["decode_tok_s"]) == ("off", None, 100.0)
    assert (on["mode"], on["gain"]) == ("on", 1.0)
    assert value["kinds"][0]["prefill_tok_s"] == 500.0
    assert engine.requests[-1].max_tokens == 9


@pytest.mark.parametrize(
    "words",
    [
        ("--concurrency", "1,0"),
        ("--concurrency", "1,1000"),
        ("--concurrency", "4", "--check-mtp"),
        ("--rounds", "0"),
        ("--tokens", "-3"),
    ],
)
def test_what_cannot_be_measured_is_refused(
    hearth: Hearth,
    engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    assert hearth("bench", *words, "--json") == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"
    assert engine.plans == []


def test_another_engine_says_why_it_is_not_there(
    hearth: Hearth, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("bench", "--engine", "vllm", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "engine_unavailable"


def test_many_chats_of_an_engine_that_answers_one_after_the_other(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("bench", "--concurrency", "1,4", "--rounds", "2", "--tokens", "2", "--mtp", "off")
    assert hearth(*words, "--json") == 0
    value = json.loads(capsys.readouterr().out)
    assert (value["runs_on"], value["side_by_side"], value["mtp"]) == ("llamacpp", 1, "off")
    assert "one after the other" in value["note"]
    assert [(it["chats"], it["tokens"]) for it in value["levels"]] == [(1, 4), (4, 16)]
    assert len(engine.requests) == 1 + 2 * (1 + 4), "the first is not counted"
    four = value["levels"][1]
    assert four["chat_tok_s"] < four["total_tok_s"], "the others wait"
    assert hearth("recommend", "--json") == 0
    rows = json.loads(capsys.readouterr().out)["engine"]["rows"]
    measured = {it["topic"]: it["llamacpp"] for it in rows if it["measured"]}
    assert measured == {
        "starter, one user": "100 tokens a second",
        "starter, 4 at once": f"{four['total_tok_s']:,.0f} tokens a second",
    }
    assert hearth(*words) == 0
    shown = capsys.readouterr().out
    assert "one after the other" in shown
    assert "tokens/s in all" in shown


def test_identical_answers_are_a_success(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert hearth("bench", "--check-mtp") == 0
    shown = capsys.readouterr().out
    assert "2,048 tokens of 8 prompts are identical with and without MTP." in shown
    assert [depth for _, depth in engine.checked[:4]] == [1, 2, 4, 8]


@pytest.mark.parametrize(("gap", "status", "verdict"), [(0.019, 0, "tie"), (0.02, 1, "different")])
def test_a_tie_is_told_from_a_difference(
    hearth: Hearth,
    engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
    gap: float,
    status: int,
    verdict: str,
) -> None:
    engine.checks = (MtpCheck(True, 64, 1, 9), MtpCheck(False, 36, 2, 5, gap=gap))
    assert hearth("bench", "--check-mtp", "--json") == status
    value = json.loads(capsys.readouterr().out)
    assert (value["same"], value["identical"]) == (status == 0, False)
    assert value["checks"][1]["verdict"] == verdict
    assert (value["checks"][1]["gap"], value["checks"][1]["tokens"]) == (gap, 36)
    assert hearth("bench", "--check-mtp") == status
    assert "at token 37" in capsys.readouterr().out


def test_a_check_that_cannot_be_done_is_an_error(
    hearth: Hearth, engine: ScriptedEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    engine.checks = (MtpUnavailable("No check.", "Nothing drafts.", "Add a drafter."),)
    assert hearth("bench", "--check-mtp", "--json") == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "mtp"


@pytest.mark.skipif(os.name == "nt", reason="Windows cannot signal one process alone")
@pytest.mark.parametrize("words", [(), ("--check-mtp",)])
def test_ctrl_c_ends_it(
    hearth: Hearth,
    engine: ScriptedEngine,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    engine.hold = threading.Event()

    def interrupt() -> None:
        until(lambda: engine.requests or engine.checked)
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    assert hearth("bench", *words, "--json") == 130
    interrupting.join()
    assert capsys.readouterr().out == ""
