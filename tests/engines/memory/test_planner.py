"""Plans for made computers."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType as Type

from engines.errors import EngineError, NotAChatModel, NotEnoughMemory
from engines.hardware import Cpu, Gpu, Hardware, Memory
from engines.memory.fit import DraftNeed, need_by_formula
from engines.memory.formula.weights import copied_bytes
from engines.memory.load_options import LoadOptions
from engines.memory.planner import (
    DrafterFile,
    ProjectorFile,
    check,
    corrected,
    judge_roughly,
    make_plan,
    require_fit,
)
from engines.models.gguf.header import GgufHeader, read_header
from engines.types import MAX_DEPTH, Adapter, LlamaPlan
from tests.engines.gguf_files import (
    LLAMA,
    write_assistant,
    write_gemma4,
    write_gguf,
    write_llama,
    write_qwen35,
)

GB = 10**9
RESERVE = 512 << 20
MODEL = Path("model.gguf")
CPU = Cpu("Test CPU", 8, 16, 16, 8, 8)
CARD = Gpu("Test card", "nvidia", "CUDA", 24 * GB, 24 * GB, False, "1", True)


def computer(available: int, *gpus: Gpu, limit: int | None = None) -> Hardware:
    return Hardware("Test", CPU, Memory(64 * GB, available, limit), gpus)


@pytest.fixture
def header(tmp_path: Path) -> GgufHeader:
    """Return the header of about 8 B parameters in 15 GB, trained for 32,768 tokens."""
    path = write_llama(
        tmp_path / "m.gguf", block_count=32, embedding_length=4096, feed_forward_length=14336,
        attention__head_count=32, attention__head_count_kv=8, rope__dimension_count=128,
        vocab_size=128256, context_length=32768,
    )  # fmt: skip
    return read_header(path)


def needed(header: GgufHeader, context: int) -> int:
    return need_by_formula(header, context, "f16", 512, 0, DraftNeed(MAX_DEPTH)).ram.total


def test_roomy_computer(header: GgufHeader) -> None:
    hardware = computer(40 * GB)
    plan = make_plan(MODEL, header, hardware, LoadOptions())
    assert (plan.context, plan.threads, plan.batch_threads) == (8192, 7, 8)
    assert (plan.gpu_layers, plan.kv_type) == (0, "f16")
    fit = check(header, hardware, plan)
    assert (fit.verdict, fit.device) == ("fits", "Test CPU")
    assert fit.need_bytes == fit.parts.total == needed(header, 8192)
    assert "16." in fit.reason


def test_as_many_answers_at_once_as_take_little_memory(header: GgufHeader) -> None:
    def planned(free: int, parallel: int | None) -> LlamaPlan:
        return make_plan(MODEL, header, computer(free), LoadOptions(parallel=parallel))

    assert [planned(free * GB, None).parallel for free in (20, 24, 36, 60)] == [2, 3, 4, 4]
    assert planned(18 * GB, None).parallel == 1
    assert planned(60 * GB, 12).parallel == 12
    # A number that was set is kept, and the context gives way.
    assert planned(24 * GB, 12).context < planned(24 * GB, 1).context
    several = planned(60 * GB, 3)
    parts = [check(header, computer(60 * GB), replace(several, parallel=n)).parts for n in (1, 3)]
    assert parts[1].kv == 3 * parts[0].kv
    assert parts[1].weights == parts[0].weights


SIGHT = ProjectorFile(Path("mmproj.gguf"), GB)


def test_a_projector_is_counted_with_its_model(header: GgufHeader) -> None:
    hardware = computer(40 * GB)
    plain = make_plan(MODEL, header, hardware, LoadOptions(parallel=1))
    plan = make_plan(MODEL, header, hardware, LoadOptions(parallel=1), projector=SIGHT)
    assert plan == replace(plain, projector=SIGHT.path)
    fit = check(header, hardware, plan, projector=SIGHT)
    assert fit.parts.projector == GB
    assert fit.need_bytes == check(header, hardware, plain).need_bytes + GB
    assert check(header, hardware, plain, projector=SIGHT).parts.projector == 0


def test_a_batch_has_room_for_a_picture_that_is_read_in_one_call(header: GgufHeader) -> None:
    hardware, whole = computer(40 * GB), replace(SIGHT, rows=1120)
    plain = make_plan(MODEL, header, hardware, LoadOptions(parallel=1), projector=SIGHT)
    plan = make_plan(MODEL, header, hardware, LoadOptions(parallel=1), projector=whole)
    assert plan == replace(plain, batch=1120)
    fits = [check(header, hardware, it, projector=whole).parts for it in (plain, plan)]
    assert fits[1].compute > fits[0].compute
    assert replace(fits[1], compute=fits[0].compute) == fits[0]
    shut = make_plan(MODEL, header, computer(needed(header, 8192)), LoadOptions(), projector=whole)
    assert (shut.projector, shut.batch) == (None, plain.batch)


@pytest.mark.parametrize("card", [False, True])
def test_adapters_are_counted_where_the_layers_go(header: GgufHeader, card: bool) -> None:
    hardware = computer(40 * GB, CARD) if card else computer(40 * GB)
    options = LoadOptions(adapters=(Adapter("a", Path("a.gguf"), GB), Adapter("b", Path("b"))))
    plan = make_plan(MODEL, header, hardware, options)
    fit = check(header, hardware, plan)
    without = check(header, hardware, replace(plan, adapters=()))
    assert fit.need_bytes == without.need_bytes + GB
    part, before = (it.split.gpu if card else it.split.ram for it in (fit, without))
    assert part.weights == before.weights + GB


def test_where_memory_is_short_the_projector_goes_first(header: GgufHeader) -> None:
    room = needed(header, 8192)
    tight = make_plan(MODEL, header, computer(room), LoadOptions(), projector=SIGHT)
    assert tight.projector is None
    assert tight.context > 2048
    assert "1.0 GB more" in tight.projector_note
    roomy = make_plan(MODEL, header, computer(room + GB), LoadOptions(), projector=SIGHT)
    assert (roomy.projector, roomy.projector_note) == (SIGHT.path, "")


def test_a_projector_lies_on_the_card_and_takes_room_of_the_layers(header: GgufHeader) -> None:
    small = replace(CARD, free_bytes=10 * GB)
    plain = make_plan(MODEL, header, computer(40 * GB, small), LoadOptions())
    plan = make_plan(MODEL, header, computer(40 * GB, small), LoadOptions(), projector=SIGHT)
    assert 0 < plan.gpu_layers < plain.gpu_layers
    split = check(header, computer(40 * GB, small), plan, projector=SIGHT).split
    assert split.gpu.projector == GB


def test_a_short_training_is_not_exceeded(tmp_path: Path) -> None:
    short = read_header(write_llama(tmp_path / "m.gguf", context_length=1000))
    assert make_plan(MODEL, short, computer(GB), LoadOptions()).context == 1000
    tiny = read_header(write_llama(tmp_path / "t.gguf", context_length=128))
    assert make_plan(MODEL, tiny, computer(1), LoadOptions()).context == 128


def test_context_shrinks_to_the_longest_that_fits(header: GgufHeader) -> None:
    hardware = computer(needed(header, 4096))
    plan = make_plan(MODEL, header, hardware, LoadOptions())
    assert plan.context == 4096
    assert check(header, hardware, plan).verdict == "tight"
    almost = computer(needed(header, 4096) - 1)
    assert make_plan(MODEL, header, almost, LoadOptions()).context == 3840


def test_too_little_memory_is_said_with_numbers(header: GgufHeader) -> None:
    hardware = computer(3_100_000_000)
    plan = make_plan(MODEL, header, hardware, LoadOptions())
    assert plan.context == 512
    with pytest.raises(NotEnoughMemory) as caught:
        require_fit(header, hardware, plan)
    assert "it needs 15.3 GB, and 3.1 GB are free" in caught.value.what
    assert "weights take 15.0 GB" in caught.value.why
    assert "context" not in caught.value.do


def test_a_containers_limit_is_named(header: GgufHeader) -> None:
    hardware = computer(2 * GB, limit=4 * GB)
    plan = make_plan(MODEL, header, hardware, LoadOptions(context=2048))
    with pytest.raises(NotEnoughMemory, match=r"container may use 4\.0 GB"):
        require_fit(header, hardware, plan)


def test_a_wished_context_is_kept_even_if_it_does_not_fit(header: GgufHeader) -> None:
    hardware = computer(needed(header, 4096))
    plan = make_plan(MODEL, header, hardware, LoadOptions(context=32768))
    assert plan.context == 32768
    with pytest.raises(NotEnoughMemory, match="set a context below 32,768"):
        require_fit(header, hardware, plan)


@pytest.mark.parametrize("context", [0, -1, 32769])
def test_an_impossible_context_is_refused(header: GgufHeader, context: int) -> None:
    with pytest.raises(EngineError, match="trained for at most 32,768"):
        make_plan(MODEL, header, computer(64 * GB), LoadOptions(context=context))


def test_other_wishes(header: GgufHeader) -> None:
    load_options = LoadOptions(threads=3, kv_type="q8_0")
    plan = make_plan(MODEL, header, computer(64 * GB), load_options)
    assert (plan.threads, plan.kv_type) == (3, "q8_0")


class TestGraphics:
    def test_all_on_the_card(self, header: GgufHeader) -> None:
        hardware = computer(8 * GB, CARD)
        plan = make_plan(MODEL, header, hardware, LoadOptions())
        fit = check(header, hardware, plan)
        assert plan.gpu_layers == -1
        assert (fit.verdict, fit.device) == ("fits", "Test card")
        assert fit.have_bytes == 24 * GB - RESERVE

    def test_as_many_layers_as_fit(self, header: GgufHeader) -> None:
        ten = need_by_formula(header, 8192, "f16", 512, 10, DraftNeed(MAX_DEPTH)).gpu.total
        hardware = computer(40 * GB, replace(CARD, free_bytes=ten + RESERVE))
        plan = make_plan(MODEL, header, hardware, LoadOptions())
        fit = check(header, hardware, plan)
        assert plan.gpu_layers == 10
        assert (fit.verdict, fit.device) == ("partial", "Test card and Test CPU")
        assert "10 of its 32 layers" in fit.reason
        less = computer(40 * GB, replace(CARD, free_bytes=ten + RESERVE - 1))
        assert make_plan(MODEL, header, less, LoadOptions()).gpu_layers == 9

    def test_a_card_that_lacks_room_for_the_output_alone(self, header: GgufHeader) -> None:
        layers = need_by_formula(header, 8192, "f16", 512, 32, DraftNeed(MAX_DEPTH)).gpu.total
        hardware = computer(40 * GB, replace(CARD, free_bytes=layers + RESERVE))
        plan = make_plan(MODEL, header, hardware, LoadOptions())
        reason = check(header, hardware, plan).reason
        assert plan.gpu_layers == 32
        assert "All of its 32 layers fit" in reason
        assert "only the output" in reason

    def test_a_card_that_holds_hardly_anything_is_left_alone(self, header: GgufHeader) -> None:
        six = need_by_formula(header, 8192, "f16", 512, 6, DraftNeed(MAX_DEPTH)).gpu.total
        hardware = computer(40 * GB, replace(CARD, free_bytes=six + RESERVE))
        assert make_plan(MODEL, header, hardware, LoadOptions()).gpu_layers == 0
        assert make_plan(MODEL, header, hardware, LoadOptions(gpu_layers=6)).gpu_layers == 6

    def test_a_full_card_is_left_alone(self, header: GgufHeader) -> None:
        hardware = computer(40 * GB, replace(CARD, free_bytes=RESERVE))
        plan = make_plan(MODEL, header, hardware, LoadOptions())
        assert plan.gpu_layers == 0
        assert check(header, hardware, plan).device == "Test CPU"

    def test_a_card_that_cannot_be_used_counts_for_nothing(self, header: GgufHeader) -> None:
        hardware = computer(40 * GB, replace(CARD, usable=False, why_not="No part for it."))
        assert make_plan(MODEL, header, hardware, LoadOptions(gpu_layers=5)).gpu_layers == 0

    def test_wished_layers_are_kept(self, header: GgufHeader) -> None:
        hardware = computer(40 * GB, CARD)
        assert make_plan(MODEL, header, hardware, LoadOptions(gpu_layers=5)).gpu_layers == 5

    def test_too_many_wished_layers_do_not_fit(self, header: GgufHeader) -> None:
        hardware = computer(40 * GB, replace(CARD, free_bytes=4 * GB))
        plan = make_plan(MODEL, header, hardware, LoadOptions(context=512, gpu_layers=32))
        with pytest.raises(NotEnoughMemory):
            require_fit(header, hardware, plan)

    def test_two_cards_are_one_room(self, header: GgufHeader) -> None:
        half = replace(CARD, free_bytes=10 * GB)
        plan = make_plan(MODEL, header, computer(40 * GB, half, half), LoadOptions())
        assert plan.gpu_layers == -1

    def test_an_integrated_unit_does_not_double_the_memory(self, header: GgufHeader) -> None:
        unit = replace(CARD, integrated=True, free_bytes=12 * GB)
        hardware = computer(12 * GB, unit)
        plan = make_plan(MODEL, header, hardware, LoadOptions())
        fit = check(header, hardware, plan)
        assert (fit.verdict, fit.have_bytes) == ("no", 12 * GB)

    def test_a_card_is_preferred_to_an_integrated_unit(self, header: GgufHeader) -> None:
        unit = replace(CARD, name="Unit", integrated=True)
        hardware = computer(40 * GB, unit, CARD)
        plan = make_plan(MODEL, header, hardware, LoadOptions())
        assert check(header, hardware, plan).device == "Test card"


@pytest.mark.parametrize(
    ("architecture", "expected"),
    [("eagle3", "drafter"), ("clip", "projector")],
)
def test_only_chat_models(tmp_path: Path, architecture: str, expected: str) -> None:
    header = read_header(write_gguf(tmp_path / "m.gguf", architecture, LLAMA, {}))
    with pytest.raises(NotAChatModel, match=expected):
        make_plan(MODEL, header, computer(GB), LoadOptions())


class TestDrafting:
    @pytest.fixture
    def gemma(self, tmp_path: Path) -> GgufHeader:
        return read_header(write_gemma4(tmp_path / "g.gguf"))

    @pytest.fixture
    def drafter(self, tmp_path: Path) -> DrafterFile:
        path = write_assistant(tmp_path / "d.gguf")
        return DrafterFile(path, read_header(path))

    @pytest.fixture
    def qwen(self, tmp_path: Path) -> GgufHeader:
        return read_header(write_qwen35(tmp_path / "q.gguf"))

    def test_a_drafter_comes_along(self, gemma: GgufHeader, drafter: DrafterFile) -> None:
        hardware = computer(GB)
        plan = make_plan(MODEL, gemma, hardware, LoadOptions(), drafter)
        assert (plan.drafter, plan.draft_max, plan.mtp_note) == (drafter.path, MAX_DEPTH, "")
        with_it = check(gemma, hardware, plan, drafter.header).parts
        without = check(gemma, hardware, replace(plan, draft_max=0)).parts
        assert with_it.drafter > drafter.header.weight_bytes
        assert replace(with_it, drafter=0) == without

    def test_without_it_there_is_room_to_draft_copies(self, gemma: GgufHeader) -> None:
        plan = make_plan(MODEL, gemma, computer(GB), LoadOptions())
        assert (plan.drafter, plan.draft_max) == (None, MAX_DEPTH)
        assert "can be added" in plan.mtp_note

    def test_it_is_left_behind_where_the_model_would_not_fit(
        self, gemma: GgufHeader, drafter: DrafterFile
    ) -> None:
        plain = make_plan(MODEL, gemma, computer(GB), LoadOptions(mtp=False), drafter)
        hardware = computer(check(gemma, computer(GB), plain).need_bytes)
        for load_options in (LoadOptions(), LoadOptions(context=plain.context)):
            plan = make_plan(MODEL, gemma, hardware, load_options, drafter)
            assert (plan.drafter, plan.draft_max, plan.context) == (None, 0, plain.context)
            assert plan.mtp_note.startswith("There is no memory left for guessing ahead")
            require_fit(gemma, hardware, plan)

    def test_a_model_that_does_not_fit_is_not_refused_for_its_drafter(
        self, gemma: GgufHeader, drafter: DrafterFile
    ) -> None:
        hardware = computer(1000)
        plan = make_plan(MODEL, gemma, hardware, LoadOptions(), drafter)
        assert plan.draft_max == 0
        with pytest.raises(NotEnoughMemory):
            require_fit(gemma, hardware, plan)

    def test_off_makes_no_room(self, gemma: GgufHeader, drafter: DrafterFile) -> None:
        plan = make_plan(MODEL, gemma, computer(GB), LoadOptions(mtp=False), drafter)
        assert (plan.drafter, plan.draft_max) == (None, 0)
        assert "switched off" in plan.mtp_note

    def test_recurrent_models_draft_less_far_and_less_still_if_memory_is_short(
        self, qwen: GgufHeader
    ) -> None:
        roomy = make_plan(MODEL, qwen, computer(GB), LoadOptions())
        assert (roomy.draft_max, roomy.mtp_note) == (3, "")
        for depth in (2, 1):
            wanted = replace(roomy, draft_max=depth)
            hardware = computer(check(qwen, computer(GB), wanted).need_bytes)
            plan = make_plan(MODEL, qwen, hardware, LoadOptions(context=roomy.context))
            assert plan.draft_max == depth

    def test_a_state_that_goes_back_as_a_whole_is_there_twice_however_far_is_drafted(
        self, qwen: GgufHeader
    ) -> None:
        assert qwen.layers is not None
        header = replace(qwen, architecture="qwen3next")
        plan = make_plan(MODEL, header, computer(GB), LoadOptions())
        assert (plan.draft_max, plan.mtp_note) == (MAX_DEPTH, "")
        kept = check(qwen, computer(GB), plan).need_bytes
        marked = check(header, computer(GB), plan).need_bytes
        one = qwen.layers.recurrent_bytes // len(qwen.layers.recurrent)
        more = (MAX_DEPTH - 1) * qwen.layers.recurrent_bytes + MAX_DEPTH * one
        assert kept - marked == more

    def test_a_recurrent_model_without_a_drafter_has_room_to_copy_text(
        self, qwen: GgufHeader
    ) -> None:
        for architecture in ("qwen35", "mamba2"):
            header = replace(qwen, architecture=architecture, mtp="none", nextn_predict_layers=0)
            plan = make_plan(MODEL, header, computer(GB), LoadOptions())
            assert plan.draft_max == MAX_DEPTH
            assert plan.mtp_note

    def test_a_whole_model_on_the_card_is_worth_more_than_its_drafter(
        self, gemma: GgufHeader, drafter: DrafterFile
    ) -> None:
        roomy = computer(GB, CARD)
        plain = make_plan(MODEL, gemma, roomy, LoadOptions(mtp=False))
        just = check(gemma, roomy, plain).need_bytes + RESERVE
        plan = make_plan(
            MODEL, gemma, computer(GB, replace(CARD, free_bytes=just)), LoadOptions(), drafter
        )
        assert (plan.gpu_layers, plan.drafter, plan.draft_max) == (-1, None, 0)


def test_other_conversations_take_a_tenth_of_free_memory_at_most(header: GgufHeader) -> None:
    roomy = make_plan(MODEL, header, computer(64 * GB), LoadOptions(kept_bytes=GB))
    small = make_plan(MODEL, header, computer(4 * GB), LoadOptions(kept_bytes=GB))
    assert (roomy.kept_bytes, small.kept_bytes) == (GB, 4 * GB // 10)


class TestExactFigures:
    def test_the_plan_follows_from_what_is_said_rather_than_from_the_formula(
        self, header: GgufHeader
    ) -> None:
        hardware = computer(needed(header, 4096))
        more = make_plan(MODEL, header, hardware, LoadOptions(), sizes=corrected(2 * GB, 0))
        less = make_plan(MODEL, header, hardware, LoadOptions(), sizes=corrected(-2 * GB, 0))
        assert more.context < 4096 < less.context == 8192
        with pytest.raises(NotEnoughMemory, match="17"):
            require_fit(header, hardware, more, sizes=corrected(2 * GB, 0))

    def test_layers_on_a_card_follow_too(self, header: GgufHeader) -> None:
        ten = need_by_formula(header, 8192, "f16", 512, 10, DraftNeed(MAX_DEPTH)).gpu.total
        hardware = computer(40 * GB, replace(CARD, free_bytes=ten + RESERVE))
        plan = make_plan(MODEL, header, hardware, LoadOptions(), sizes=corrected(0, GB))
        assert 0 < plan.gpu_layers < 10


def test_weights_that_are_copied_anyway_are_not_mapped_as_well(tmp_path: Path) -> None:
    copied = read_header(write_llama(tmp_path / "q4.gguf", Type.Q4_0))
    kept = read_header(write_llama(tmp_path / "q8.gguf", Type.Q8_0))
    assert not make_plan(MODEL, copied, computer(GB), LoadOptions()).mmap
    assert make_plan(MODEL, kept, computer(GB), LoadOptions()).mmap
    assert make_plan(MODEL, copied, computer(GB, CARD), LoadOptions()).mmap


def test_weights_of_which_some_are_copied_are_mapped_where_there_is_room(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    written = write_gemma4(
        path, Type.Q4_0, vocab_size=60_000, embedding_length=1024, feed_forward_length=4096,
        embedding_length_per_layer_input=256,
    )  # fmt: skip
    header = read_header(written)
    assert 0 < copied_bytes(header) < header.weight_bytes // 2
    context = header.context_max
    drafting = DraftNeed(MAX_DEPTH)
    need = {
        mmap: need_by_formula(header, context, "f16", 512, 0, drafting, mmap=mmap).ram.total
        for mmap in (True, False)
    }
    assert need[False] < need[True]
    roomy = make_plan(MODEL, header, computer(2 * need[True]), LoadOptions())
    assert (roomy.mmap, roomy.context, roomy.draft_max) == (True, context, MAX_DEPTH)
    for short in (need[False], need[True]):
        plan = make_plan(MODEL, header, computer(short), LoadOptions())
        assert (plan.mmap, plan.context, plan.draft_max) == (False, context, MAX_DEPTH)
        assert check(header, computer(short), plan).need_bytes == need[False]


@pytest.mark.parametrize(("wish", "context"), [(None, 2048), (4096, 4096), (700, 700)])
def test_what_is_loaded_anyway_stays_in_its_file(
    tmp_path: Path, wish: int | None, context: int
) -> None:
    header = read_header(write_llama(tmp_path / "q4.gguf", Type.Q4_0, context_length=8192))
    load_options = LoadOptions(context=wish, anyway=True)
    plan = make_plan(MODEL, header, computer(1000), load_options)
    assert (plan.mmap, plan.repack, plan.context) == (True, False, context)
    assert check(header, computer(1000), plan).parts.weights <= header.weight_bytes
    roomy = make_plan(MODEL, header, computer(GB), load_options)
    assert (roomy.mmap, roomy.repack) == (False, True)


def test_anyway_is_not_refused(header: GgufHeader) -> None:
    hardware = computer(GB)
    plan = make_plan(MODEL, header, hardware, LoadOptions(anyway=True))
    assert check(header, hardware, plan).verdict == "no"
    require_fit(header, hardware, plan)


@pytest.mark.parametrize(
    ("need", "gpus", "verdict"),
    [
        (5 * GB, (), "fits"),
        (int(9.5 * GB), (), "tight"),
        (11 * GB, (), "no"),
        (11 * GB, (CARD,), "fits"),
        (30 * GB, (CARD,), "partial"),
        (40 * GB, (CARD,), "no"),
        (11 * GB, (replace(CARD, integrated=True),), "no"),
    ],
)
def test_a_rough_verdict(need: int, gpus: tuple[Gpu, ...], verdict: str) -> None:
    assert judge_roughly(need, computer(10 * GB, *gpus)) == verdict
