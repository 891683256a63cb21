"""Memory bandwidth: reported by cards, measured on the processor, kept between starts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engines.hardware import Cpu, Gpu, Hardware, Memory
from engines.hardware import bandwidth as module
from engines.hardware.bandwidth import (
    USUAL_RATE,
    Bandwidth,
    BandwidthBook,
    bandwidth,
    measure,
    time_of_other_processes,
)
from engines.hardware.nvidia import memory_rates
from tests.engines.hardware.machines import FakeNvml, NvmlError

MIB = 1 << 20
GIB = 1 << 30
CARD = Gpu("RTX 3090", "nvidia", "CUDA", 24 * GIB, 23 * GIB, False, "", True)
SEAT = (CARD.name, "0000:01:00.0", 24 * GIB, 0)
HERE = Hardware("Linux", Cpu("Fast", 8, 16, 16, 8, 8), Memory(16 * GIB, 8 * GIB), (CARD,))


class Nvml(FakeNvml):
    """A driver that also reports the memory clock in MHz and the bus width in bits."""

    NVML_CLOCK_MEM = 2
    clock, width = 9751, 384

    def nvmlDeviceGetMaxClockInfo(self, handle: int, kind: int) -> int:
        assert kind == self.NVML_CLOCK_MEM
        if self.clock < 0:
            raise NvmlError(self.NVML_ERROR_NOT_SUPPORTED)
        return self.clock

    def nvmlDeviceGetMemoryBusWidth(self, handle: int) -> int:
        return self.width


class Book(BandwidthBook):
    """A book whose measurements come from the test."""

    def __init__(self, file: Path, *rates: float, busy: int = 0) -> None:
        """Make a book.

        Args:
            file: The file of the book.
            rates: The measurements.
            busy: The number of measurements that are disturbed at first.
        """
        self.asked = 0
        self.waited: list[float] = []
        self._busy = busy
        self._rates = iter(rates)
        super().__init__(file, self._told, self.waited.append)

    def _told(self, hardware: Hardware) -> Bandwidth:
        self.asked += 1
        return Bandwidth(next(self._rates), ((CARD.name, 9e11),), sure=self.asked > self._busy)


def driver(clock: int = 9751, width: int = 384) -> Nvml:
    nvml = Nvml(SEAT)
    nvml.clock, nvml.width = clock, width
    return nvml


@pytest.mark.parametrize(
    ("clock", "width", "rate"),
    [(9751, 384, 936e9), (10501, 384, 1008e9), (4004, 192, 192e9), (2619, 5120, 3352e9)],
)
def test_the_rate_of_a_card_is_the_one_on_its_box(clock: int, width: int, rate: float) -> None:
    assert memory_rates(driver(clock, width))[CARD.name] == pytest.approx(rate, rel=0.002)


def test_cards_that_tell_nothing_are_left_out() -> None:
    assert memory_rates(None) == {}
    assert memory_rates(driver(clock=-1)) == {}
    assert memory_rates(driver(width=0)) == {}
    silent = Nvml(SEAT)
    silent.fails = Nvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert memory_rates(silent) == {}


def test_the_rate_is_the_best_pass_of_all_threads_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The clock is read at the start, before and after each pass, and once more at the end.
    times: Iterator[float] = iter([0.0, 0.0, 0.4, 0.4, 0.4, 0.5, 0.5])
    monkeypatch.setattr(module, "perf_counter", lambda: next(times))
    assert measure(2, size=32 * MIB, seconds=0.45) == pytest.approx(32 * MIB / 0.1)


def test_this_computer_is_measured() -> None:
    found = bandwidth(replace(HERE, memory=Memory(GIB, GIB // 4)), driver)
    assert found.memory > 1e8
    assert found.card(CARD) == pytest.approx(936e9, rel=0.01)
    assert found.card(replace(CARD, name="another")) is None


def test_the_best_of_three_measurements_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "bandwidth.json"
    assert Book(file, 20e9).of(HERE).memory == 20e9
    assert Book(file, 40e9).of(HERE).memory == 40e9
    assert Book(file, 30e9).of(HERE).memory == 40e9
    later = Book(file)
    assert later.of(HERE) == Bandwidth(40e9, ((CARD.name, 9e11),))
    assert later.asked == 0


def test_a_busy_computer_is_measured_until_it_is_calm(tmp_path: Path) -> None:
    book = Book(tmp_path / "bandwidth.json", 4e9, 7e9, 30e9, busy=2)
    assert book.of(HERE) == Bandwidth(30e9, ((CARD.name, 9e11),))
    assert len(book.waited) == 2


def test_what_was_only_measured_under_load_is_not_believed_and_measured_again(
    tmp_path: Path,
) -> None:
    file = tmp_path / "bandwidth.json"
    busy = Book(file, 4e9, 5e9, 3e9, busy=3)
    found = busy.of(HERE)
    assert (found.memory, found.sure) == (USUAL_RATE, False)
    assert busy.asked == 3
    assert Book(file, 31e9, busy=0).of(HERE) == Bandwidth(31e9, ((CARD.name, 9e11),))
    slow = tmp_path / "slow.json"
    assert Book(slow, 6e9).of(HERE).memory == 6e9, "in calm it is what it is"


def test_others_at_work_make_a_measurement_unsure() -> None:
    small = replace(HERE, memory=Memory(GIB, GIB // 4))
    calm, busy = iter([5.0, 5.0]), iter([5.0, 500.0])
    assert bandwidth(small, driver, lambda: next(calm)).sure
    assert not bandwidth(small, driver, lambda: next(busy)).sure
    assert time_of_other_processes() > 0


def test_another_computer_is_measured_anew(tmp_path: Path) -> None:
    file = tmp_path / "bandwidth.json"
    Book(file, 40e9).of(HERE)
    other = replace(HERE, cpu=replace(HERE.cpu, usable_threads=2))
    assert Book(file, 10e9).of(other).memory == 10e9


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"computer": 1}', "\xff"])
def test_a_damaged_file_costs_a_measurement_only(tmp_path: Path, text: str) -> None:
    file = tmp_path / "bandwidth.json"
    file.write_text(text, encoding="latin-1")
    assert Book(file, 5e9).of(HERE).memory == 5e9
    assert json.loads(file.read_text(encoding="utf-8"))["times"] == 1


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path: Path) -> None:
    assert Book(tmp_path / "missing" / "bandwidth.json", 5e9).of(HERE).memory == 5e9
