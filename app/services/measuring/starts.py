"""Comparing answers with and without MTP where the engine starts again for each depth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.core.engines.same_answer import Compared
from app.core.settings.fields import Settings
from app.services.answers.answers import GREEDY
from app.services.engines.lease import Lease
from app.services.measuring.results import Step
from engines.cancel import CancelToken
from engines.errors import MtpUnavailable
from engines.types import (
    ChatRequest,
    Done,
    Message,
    MtpCheck,
    MtpMode,
    ReasoningDelta,
    TextDelta,
)

Work = tuple[int, str, int]
"""The number of a prompt, its text, and a depth."""


@dataclass(frozen=True)
class _Said:
    """An answer with its reasoning. accepted: tokens of it that were drafted."""

    text: str
    tokens: int
    accepted: int


class Starts:
    """lease: the model as the settings want it, with so many tokens drafted ahead."""

    def __init__(self, lease: Callable[[Settings, int | None], Lease]) -> None:
        self._lease = lease

    def compare(
        self, settings: Settings, work: Sequence[Work], tokens: int, cancel: CancelToken
    ) -> Iterator[Step | Compared]:
        """See `Bench.compare`. Without drafts first, then one depth after the other."""
        prompts = {number: text for number, text, _ in work}
        depths = sorted({depth for *_, depth in work})
        total = len(prompts) + len(work)
        plain: dict[int, _Said] = {}
        count = 0
        for depth in (0, *depths):
            chosen = [it for it in work if it[2] == depth]
            asked = {number: text for number, text, _ in chosen} if depth else prompts
            mode: MtpMode = "on" if depth else "off"
            yield Step(count, total, f"starting with {depth} ahead" if depth else "starting")
            with self._lease(replace(settings, mtp=mode), depth or None) as model:
                _require_drafts(model, depth)
                for number, text in asked.items():
                    yield Step(count, total, f"prompt {number} of {len(prompts)}, {depth} ahead")
                    said = _said(model, text, mode, tokens, cancel)
                    if cancel.cancelled:
                        return
                    count += 1
                    if depth:
                        yield Compared(number, _check(plain[number], said, depth))
                    else:
                        plain[number] = said


def _require_drafts(model: Lease, depth: int) -> None:
    """Raises MtpUnavailable."""
    if depth and model.loaded.mtp == "none":
        raise MtpUnavailable(
            f"MTP is not possible with “{model.entry.name}”.",
            model.loaded.mtp_line,
            "Use it without, or choose a model that has it.",
        )


def _said(model: Lease, text: str, mode: MtpMode, tokens: int, cancel: CancelToken) -> _Said:
    request = ChatRequest((Message("user", text),), GREEDY, max_tokens=tokens, mtp=mode)
    pieces: list[str] = []
    count = accepted = 0
    for event in model.chat(request, cancel):
        if isinstance(event, TextDelta | ReasoningDelta):
            pieces.append(event.text)
        elif isinstance(event, Done):
            count, accepted = event.usage.completion_tokens, event.mtp.accepted
    return _Said("".join(pieces), count, accepted)


def _check(plain: _Said, drafted: _Said, depth: int) -> MtpCheck:
    """Such an engine gives no logits; where texts differ, the tokens are told by the letters."""
    same = plain.text == drafted.text
    pairs = zip(plain.text, drafted.text, strict=False)
    shorter = min(len(plain.text), len(drafted.text))
    alike = next((at for at, (one, other) in enumerate(pairs) if one != other), shorter)
    tokens = plain.tokens if same else plain.tokens * alike // max(1, len(plain.text))
    return MtpCheck(same, tokens, depth, drafted.accepted)
