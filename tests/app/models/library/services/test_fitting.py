"""Verdicts before a load, and corrections learnt from loads."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from app.base.db import Database
from app.base.shipped import STARTER, STARTER_DRAFTER
from app.models.library.services.fitting import Fitting, projector_file
from app.models.library.store.load_records import LoadStore
from app.models.library.values.entry import STARTER as STARTER_ID
from app.models.library.values.entry import ModelEntry
from app.runtime.services.loaders import LlamaLoader
from app.runtime.services.runtime import Runtime
from engines.cancel import CancelToken
from engines.errors import ModelNotFound, NotEnoughMemory
from engines.hardware import Hardware, detect
from engines.llamacpp.engine import LlamaCppEngine
from engines.llamacpp.sizing.sizer import Sizer
from engines.memory.buffers import Buffers, DeviceBuffers
from engines.memory.fit import DraftNeed, need_by_formula
from engines.memory.load_options import LoadOptions
from engines.models.gguf.header import GgufHeader, read_header
from engines.types import LlamaPlan, LoadedModel
from tests.support.made_senses import gemma4_projector, write_gemma4
from tests.support.services import Services

GB = 10**9
NOBODY = (sys.executable, "-c", "raise SystemExit('nobody is asked')")


def computer(available: int) -> Hardware:
    found = detect()
    return replace(found, memory=replace(found.memory, available_bytes=available), gpus=())


@pytest.fixture
def loads(tmp_path: Path) -> Iterator[LoadStore]:
    database = Database(tmp_path / "fit.db")
    yield LoadStore(database)
    database.close()


@pytest.fixture
def header() -> GgufHeader:
    return read_header(STARTER)


def fitting(loads: LoadStore, available: int = 4 * GB, *, asked: bool = True) -> Fitting:
    sizer = Sizer() if asked else Sizer(command=NOBODY)
    return Fitting(lambda: computer(available), loads, sizer)


def test_the_library_is_asked(loads: LoadStore, header: GgufHeader) -> None:
    report = fitting(loads).report(STARTER, header, LoadOptions(), STARTER_DRAFTER)
    assert (report.exact, report.why_not, report.fit.verdict) == (True, "", "fits")
    assert report.plan.drafter == STARTER_DRAFTER
    assert report.fit.parts.drafter > read_header(STARTER_DRAFTER).weight_bytes
    assert report.fit.need_bytes == report.fit.parts.total


def test_the_formula_stands_in_and_it_is_said_why(loads: LoadStore, header: GgufHeader) -> None:
    exact = fitting(loads).report(STARTER, header, LoadOptions())
    report = fitting(loads, asked=False).report(STARTER, header, LoadOptions())
    assert not report.exact
    assert "could not say" in report.why_not
    assert any("estimate" in sentence for sentence in report.sentences)
    assert exact.fit.need_bytes <= report.fit.need_bytes <= 1.2 * exact.fit.need_bytes


def test_the_largest_picture_is_in_the_estimate(loads: LoadStore, tmp_path: Path) -> None:
    """Its pictures are read in one call, for which llama.cpp reserves memory as well."""
    model = write_gemma4(tmp_path / "gemma4.gguf")
    projector = projector_file(gemma4_projector(tmp_path / "mmproj-gemma4.gguf"))
    blind, seeing = (
        fitting(loads).report(model, read_header(model), LoadOptions(mtp=False), projector=it)
        for it in (None, projector)
    )
    assert isinstance(blind.plan, LlamaPlan)
    assert isinstance(seeing.plan, LlamaPlan)
    assert (blind.plan.batch, seeing.plan.batch) == (512, 1120)
    assert blind.exact
    assert seeing.exact
    assert seeing.fit.parts.compute > blind.fit.parts.compute + 1e7


def test_the_plan_follows_from_the_exact_figures(loads: LoadStore, header: GgufHeader) -> None:
    """The formula sees no room for the whole context, but llama.cpp's own figures do."""
    load_options = LoadOptions(mtp=False)
    exact = fitting(loads).report(STARTER, header, load_options).fit.need_bytes
    formula = need_by_formula(header, 4096, "f16", 512, 0, DraftNeed(), mmap=True).parts.total
    assert exact < formula
    between = (exact + formula) // 2
    with_it = fitting(loads, between).report(STARTER, header, load_options)
    without = fitting(loads, between, asked=False).report(STARTER, header, load_options)
    assert without.plan.context < with_it.plan.context == header.context_max
    assert with_it.fit.verdict == "tight"


@pytest.mark.parametrize("available", [3 * GB, 700_000_000, 400_000_000, 300_000_000, GB // 50])
def test_a_list_says_the_same_as_the_page_of_the_model(
    loads: LoadStore, header: GgufHeader, available: int
) -> None:
    """Without the library, and without even the header where the size decides."""
    entry = ModelEntry("m", "m", STARTER, size_bytes=STARTER.stat().st_size)
    judge = fitting(loads, available, asked=False)
    listed = judge.listed(entry, LoadOptions(), computer(available))
    assert listed == judge.report(STARTER, header, LoadOptions()).fit.verdict


def test_a_list_reads_a_header_only_where_the_size_leaves_it_open(loads: LoadStore) -> None:
    judge = fitting(loads, asked=False)
    gone = ModelEntry("m", "m", Path("gone.gguf"), size_bytes=3 * GB)
    assert judge.listed(gone, LoadOptions(), computer(16 * GB)) == "fits"
    assert judge.listed(gone, LoadOptions(), computer(2 * GB)) == "no"
    with pytest.raises(ModelNotFound):
        judge.listed(gone, LoadOptions(), computer(5 * GB))
    with pytest.raises(ModelNotFound):  # a long context can take any amount
        judge.listed(gone, LoadOptions(context=100_000), computer(16 * GB))


def test_what_does_not_fit_says_nothing_of_drafting(loads: LoadStore, header: GgufHeader) -> None:
    report = fitting(loads, 10_000_000).report(STARTER, header, LoadOptions(), STARTER_DRAFTER)
    assert report.fit.verdict == "no"
    assert report.plan.mtp_note
    reason, anyway = report.sentences
    assert reason == report.fit.reason
    assert "loaded anyway" in anyway
    assert "very slow" in anyway


def test_a_drafter_that_does_not_pair_is_left_out(loads: LoadStore, header: GgufHeader) -> None:
    report = fitting(loads).report(STARTER, header, LoadOptions(), STARTER)
    assert report.plan.drafter is None


@pytest.mark.parametrize(
    ("size", "verdict"), [(GB, "fits"), (int(2.8 * GB), "tight"), (4 * GB, "no")]
)
def test_a_first_answer_from_a_size(loads: LoadStore, size: int, verdict: str) -> None:
    assert fitting(loads).quick(size) == verdict


def test_a_sibling_tells_more(loads: LoadStore, header: GgufHeader) -> None:
    tight = fitting(loads)
    assert tight.quick(int(3.5 * GB)) == "no"
    assert tight.quick(int(3.5 * GB), header) == "fits"


class TestLearning:
    def loaded(self, judged_need: int, used: int) -> LoadedModel:
        buffers = Buffers((DeviceBuffers("CPU", weights=judged_need),))
        return LoadedModel(
            "m", "llama", 1, 1, 4096, 4096, "CPU", 0.1, buffers=buffers, grown_bytes=used
        )

    def test_a_load_that_took_more_is_expected_to_take_it_again(
        self, loads: LoadStore, header: GgufHeader
    ) -> None:
        it = fitting(loads)
        judged = it.judge(STARTER, header, LoadOptions(), None, CancelToken())
        before = judged.fit.need_bytes
        it.record(judged, self.loaded(before, before + 50_000_000))
        again = it.judge(STARTER, header, LoadOptions(), None, CancelToken())
        assert again.fit.need_bytes == before + 50_000_000
        it.record(again, self.loaded(before, 1000))
        report = it.report(STARTER, header, LoadOptions())
        assert report.fit.need_bytes >= before
        assert report.last is not None
        assert report.last.used_bytes == before

    def test_what_was_learnt_can_make_a_plan_smaller(
        self, loads: LoadStore, header: GgufHeader
    ) -> None:
        roomy = fitting(loads).judge(STARTER, header, LoadOptions(mtp=False), None, CancelToken())
        need = roomy.fit.need_bytes
        it = fitting(loads, need)
        judged = it.judge(STARTER, header, LoadOptions(mtp=False), None, CancelToken())
        it.record(judged, self.loaded(need, need + 1_000_000))
        smaller = it.judge(STARTER, header, LoadOptions(mtp=False), None, CancelToken())
        assert smaller.plan.context < judged.plan.context
        assert smaller.fit.verdict != "no"

    def test_an_engine_without_figures_teaches_nothing(
        self, loads: LoadStore, header: GgufHeader
    ) -> None:
        it = fitting(loads)
        judged = it.judge(STARTER, header, LoadOptions(), None, CancelToken())
        it.record(judged, replace(self.loaded(1, 1), buffers=None))
        assert loads.last(str(STARTER)) is None


class TestRealLoads:
    @pytest.fixture
    def engine(self) -> Iterator[LlamaCppEngine]:
        engine = LlamaCppEngine()
        yield engine
        engine.close()

    def test_each_is_recorded_with_its_error(
        self, services: Services, engine: LlamaCppEngine, loads: LoadStore
    ) -> None:
        it = fitting(loads)
        entry = services.library.find(STARTER_ID)
        it.report(entry.path, read_header(entry.path), LoadOptions(), entry.drafter)
        runtime = Runtime({"llamacpp": LlamaLoader(lambda: engine, lambda: it)})
        loaded = runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken()).loaded
        last = loads.last(str(entry.path))
        assert last is not None
        assert loaded.buffers is not None
        # The report's answer was remembered, so nothing is asked again here.
        assert (last.exact, last.real_bytes) == (True, loaded.buffers.total)
        assert abs(last.error) <= 0.005
        # For another model it counts as free, as loading that begins by unloading this one.
        used = computer(4 * GB)
        own = loaded.buffers.own
        freed = runtime.emptied(used).memory.available_bytes - used.memory.available_bytes
        assert freed == own.total - own.mapped > 0

    def test_load_anyway_really_loads(
        self, services: Services, engine: LlamaCppEngine, loads: LoadStore
    ) -> None:
        runtime = Runtime(
            {"llamacpp": LlamaLoader(lambda: engine, lambda: fitting(loads, 1_000_000))}
        )
        entry = services.library.find(STARTER_ID)
        with pytest.raises(NotEnoughMemory, match="anyway"):
            runtime.lease(entry, LoadOptions(), lambda _: None, CancelToken())
        loaded = runtime.lease(
            entry, LoadOptions(anyway=True), lambda _: None, CancelToken()
        ).loaded
        assert loaded.context >= 512
