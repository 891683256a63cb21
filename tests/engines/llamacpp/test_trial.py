"""The trial of a device in another process: its outcomes, and which of them are remembered."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from engines.cancel import CancelToken
from engines.errors import Cancelled
from engines.hardware.values import NativeDevice
from engines.llamacpp import trial_record
from engines.llamacpp.trial import BY_USER, COMMAND, TIE, Trials
from tests.engines.llamacpp.random_models import STARTER

CARD = NativeDevice("Vulkan0", "A card", "Vulkan", "gpu", 8 << 30, 8 << 30, "0000:01:00.0")
PROCESSOR = NativeDevice("CPU", "A processor", "CPU", "cpu", 8 << 30, 8 << 30)

DIES = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
HANGS = "while True: pass"


def saying(said: object) -> str:
    return f"print({json.dumps(said)!r})"


def texts(expected: str, text: str, gap: float | None = None) -> str:
    return saying({"result": {"expected": expected, "text": text, "gap": gap}})


def trials(folder: Path | None, code: str, limit_s: float = 30.0) -> Trials:
    return Trials(folder, STARTER, (sys.executable, "-c", code), limit_s)


def why(code: str, limit_s: float = 30.0) -> str:
    return trials(None, code, limit_s).try_out(CARD, CancelToken()).why


class TestVerdicts:
    def test_the_same_text_is_a_device_that_works(self) -> None:
        assert why(texts("Hello there", "Hello there")) == ""

    def test_two_tokens_that_rounding_can_swap_are_no_fault(self) -> None:
        assert why(texts("Hello there", "Hello you", TIE / 2)) == ""

    @pytest.mark.parametrize("gap", [TIE, 3.0, None, float("nan")])
    def test_another_text_is_a_device_that_computes_wrongly(self, gap: float | None) -> None:
        said = why(texts("Hello there", "xx\n\nxx", gap))
        assert said == "It gives wrong results: “xx xx” where the processor says “Hello there”."

    @pytest.mark.skipif(os.name == "nt", reason="signals")
    def test_a_crash(self) -> None:
        before = why(DIES)
        assert "ended with code -11 before it reached the card" in before
        assert "driver" not in before
        on_card = why(f'print(\'{{"expected": "Hello"}}\', flush=True); {DIES}')
        assert on_card == "The test ended with code -11: the driver is faulty."

    def test_a_hang(self) -> None:
        assert "did not finish" in why(HANGS, limit_s=0.5)

    def test_a_word_that_is_no_verdict(self) -> None:
        assert "code 0" in why(saying({"stage": "load"}))
        assert "code 0" in why("print('[1]')")

    def test_an_error_of_the_engines(self) -> None:
        error = {"error": "EngineFailed", "what": "No.", "why": "It is gone.", "do": "Nothing."}
        assert why(saying(error)) == "The test failed: No. It is gone."


class TestMemory:
    def test_a_verdict_outlives_the_app(self, tmp_path: Path) -> None:
        trials(tmp_path, texts("a", "b")).require([CARD], CancelToken())
        again = trials(tmp_path, texts("a", "a"))
        again.require([CARD], CancelToken())
        [judged] = again.judged([CARD])
        assert judged.why_not.startswith("It gives wrong results")
        assert again.complaints() == (f"A card is not used: {judged.why_not}",)

    def test_it_can_be_tried_again(self, tmp_path: Path) -> None:
        trials(tmp_path, DIES).require([CARD], CancelToken())
        again = trials(tmp_path, texts("a", "a"))
        assert again.try_out(CARD, CancelToken()).why == ""
        assert again.judged([CARD]) == (CARD,)
        assert again.complaints() == ()
        assert trials(tmp_path, DIES).judged([CARD]) == (CARD,)

    @pytest.mark.parametrize("what", ["driver", "build", "bus"])
    def test_another_driver_library_or_place_is_tried_anew(
        self, what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        card = CARD
        trials(tmp_path, DIES).require([card], CancelToken())
        match what:
            case "driver":
                monkeypatch.setattr(trial_record, "driver_facts", lambda: ["newer"])
            case "build":
                monkeypatch.setattr(trial_record, "build_facts", lambda: ["newer"])
            case "bus":
                card = replace(card, pci_id="0000:02:00.0")
        assert trials(tmp_path, DIES).verdict(card) is None

    def test_how_much_memory_is_free_is_no_other_device(self, tmp_path: Path) -> None:
        trials(tmp_path, texts("a", "a")).require([CARD], CancelToken())
        assert trials(tmp_path, DIES).verdict(replace(CARD, free_bytes=1)) is not None

    def test_want_of_memory_passes(self, tmp_path: Path) -> None:
        error = {
            "error": "NotEnoughMemory",
            "what": "There is not enough.",
            "why": "2 GB.",
            "do": "-",
        }
        tried = trials(tmp_path, saying(error))
        assert "not enough" in tried.try_out(CARD, CancelToken()).why
        assert tried.verdict(CARD) is None

    def test_what_is_switched_off_stays_so_and_is_no_complaint(self, tmp_path: Path) -> None:
        trials(tmp_path, DIES).switch_off(CARD)
        later = trials(tmp_path, texts("a", "a"))
        later.require([CARD], CancelToken())
        assert later.judged([CARD])[0].why_not == BY_USER
        assert later.complaints() == ()

    def test_a_file_of_nonsense_is_as_none(self, tmp_path: Path) -> None:
        (tmp_path / trial_record.FILE_NAME).write_text('{"a": {"why": 3}, "b": []}')
        trials(tmp_path, texts("a", "a")).require([CARD], CancelToken())
        assert trials(tmp_path, DIES).verdict(CARD) is not None
        (tmp_path / trial_record.FILE_NAME).write_text("[")
        assert trials(tmp_path, DIES).verdict(CARD) is None

    def test_two_apps_do_not_lose_each_others_verdicts(self, tmp_path: Path) -> None:
        other = replace(CARD, name="Vulkan1")
        first, second = (trials(tmp_path, texts("a", "a")) for _ in range(2))
        first.require([CARD], CancelToken())
        second.require([other], CancelToken())
        later = trials(tmp_path, DIES)
        assert later.verdict(CARD)
        assert later.verdict(other)


def test_the_processor_is_never_tried() -> None:
    tried = trials(None, DIES)
    tried.require([PROCESSOR], CancelToken())
    assert tried.judged([PROCESSOR]) == (PROCESSOR,)
    assert tried.verdict(PROCESSOR) is None


def test_a_trial_can_be_stopped(tmp_path: Path) -> None:
    cancel = CancelToken()
    cancel.cancel()
    tried = trials(tmp_path, HANGS)
    with pytest.raises(Cancelled):
        tried.require([CARD], cancel)
    assert tried.verdict(CARD) is None


def test_no_process_is_a_reason_and_is_not_remembered() -> None:
    tried = Trials(None, STARTER, ("/no/such/program",))
    assert "could not start" in tried.try_out(CARD, CancelToken()).why
    assert tried.verdict(CARD) is None


class TestTheRealProcess:
    def test_a_device_that_computes_as_the_processor_does_works(self) -> None:
        """llama.cpp takes the processor as a device if it is named, and it is sure to be right."""
        itself = replace(CARD, name="CPU")
        assert Trials(None, STARTER, COMMAND).try_out(itself, CancelToken()).why == ""

    def test_a_device_that_is_gone_is_said(self) -> None:
        gone = replace(CARD, name="Vulkan99")
        verdict = Trials(None, STARTER, COMMAND).try_out(gone, CancelToken())
        assert verdict.why.endswith("This computer has no device Vulkan99.")
