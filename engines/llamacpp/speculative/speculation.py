"""Drafts for a loaded model as the depth policy decides, and reports the outcome to the policy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from engines.llamacpp.cache import common_prefix
from engines.llamacpp.speculative import mtp_status
from engines.llamacpp.speculative.costs import SharedCosts
from engines.llamacpp.speculative.depth import DepthPolicy
from engines.llamacpp.speculative.drafting import Drafting
from engines.llamacpp.speculative.lookup import PromptLookup
from engines.types import MtpKind, MtpMode, MtpReport

_FIRST_NEWS: Final = 16
_NEWS_EVERY: Final = 64
"""Number of steps after which the figures are reported, if nothing else has changed."""


class Speculation:
    """The drafting for one sequence of a model, for as long as the model is loaded.

    Answers learn from earlier ones; the costs of steps are learnt for all sequences together.

    Args:
        drafting: The drafter and its context.
        costs: The costs of the drafter's guesses.
        limit: The most tokens that can be evaluated on trial.
        ends: Returns whether a token ends an answer.
        advice: The sentence for a model that can only draft from the text itself.
        repeats: Whether the model's memory can only be restored as a whole.

    Attributes:
        drafter: The model's own drafter; None if it has none.
        costs: The costs while no other answer is written.
        kind: The kind of drafter, "lookup" without one.
    """

    def __init__(
        self,
        drafting: Drafting,
        costs: SharedCosts,
        limit: int,
        ends: Callable[[int], bool],
        advice: str,
        *,
        repeats: bool = False,
    ) -> None:
        self._drafting = drafting
        self.drafter = drafting.drafter
        self._shared = costs
        self.costs = costs.single
        self._ends = ends
        self._advice = advice
        self.kind: MtpKind = self.drafter.kind if self.drafter else "lookup"
        kinds: set[MtpKind] = {"lookup", self.kind}
        self._policy = DepthPolicy(self.costs, limit, kinds, repeats=repeats)
        self._running = 1
        self._lookup = PromptLookup()
        self._mode: MtpMode = "auto"
        self._active = self.drafter
        self._guessed: Sequence[int] = ()
        self._looked: Sequence[int] = ()
        self._was_active = self._resting = False
        self._next_news = self._reported_steps = 0
        self._begin_counts()

    @property
    def hopeless(self) -> bool:
        """True if drafts could not pay on this processor even if all were right."""
        return self._policy.hopeless

    def promise(self, mode: MtpMode) -> float:
        """Return the tokens expected in the time of a plain step in this mode.

        Infinite until that is known.
        """
        return 0.0 if mode == "auto" and self.hopeless else self._policy.promise

    def rest(self) -> None:
        """Let the target keep nothing for this sequence, as it drafts no answer now."""
        self._drafting.hide()

    def drafts(self, mode: MtpMode) -> bool:
        """Return whether anything is drafted in this mode; otherwise answers do without this."""
        return mode == "on" or (mode == "auto" and not self.costs.too_fast)

    def attach(self, drafting: Drafting) -> None:
        """Continue with a new drafter of the same kind; the previous one is closed."""
        self._drafting = drafting
        self.drafter = self._active = drafting.drafter

    def begin(self, mode: MtpMode, depth: int | None, cached: Sequence[int]) -> None:
        """Start an answer to a prompt of which the KV cache holds `cached`.

        Call it for an answer without drafts, too, so that the tokens known here stay in step.
        """
        self._mode = mode
        self._begin_counts()
        self.set_other_answers(0)
        same = common_prefix(self._lookup.tokens, cached)
        self._lookup.observe(cached[same:], same)
        if self.drafter is not None:
            self.drafter.roll_back(len(cached) if self._drafting.restored else same)
        self._drafting.restored = False
        self._active = self.drafter
        if mode == "off" or (mode == "auto" and self._policy.hopeless):
            self._active = None
            self._drafting.hide()
        else:
            self._drafting.expose()
        if self._active is not None:
            self._active.join(cached)
        if mode != "off":
            self._policy.new_answer(mode, depth)

    def set_other_answers(self, other_answers: int) -> None:
        """Use the costs of steps among so many other answers from now on."""
        if other_answers + 1 != self._running:
            self._running = other_answers + 1
            self._policy.use_costs(self._shared.among(self._running))

    def observe(self, tokens: Sequence[int], start: int) -> None:
        """Note that the model evaluated `tokens` from position `start` on, and that they stay."""
        self._lookup.observe(tokens, start)
        if self._active is not None:
            self._active.observe(tokens, start)

    def prepare(self) -> None:
        """Let the drafter process the evaluated prompt, in the prompt's time."""
        if self._active is not None:
            self._active.prepare()

    def propose(self, token: int, position: int, room: int, again: int = 0) -> Sequence[int]:
        """Draft tokens to evaluate on trial after `token`.

        Args:
            token: The next token at `position`, not yet evaluated.
            position: The position of the token.
            room: The most tokens to draft.
            again: Number of tokens before it that the same step evaluates again.
        """
        self._again = again
        self._looked, sure = self._lookup.propose(token)
        self._resting = self._active is None and not self._looked and not again
        if self._resting:
            return ()
        policy = self._policy
        plan = policy.plan(room, [sure] * len(self._looked))
        if plan.source == "none":
            return ()
        if plan.source == "lookup":
            return self._looked[: policy.verify()]
        native = self._active
        if native is None:
            return ()

        def more(guess: int, sure: int) -> bool:
            return policy.more(sure) and not self._ends(guess)

        guesses = native.propose(token, position, more)
        if guesses:
            self._guessed = guesses
        return guesses[: policy.verify()]

    def learn(
        self,
        drafts: Sequence[int],
        run: Sequence[int],
        drafting_s: float,
        step_s: float,
        overhead_s: float = 0.0,
        *,
        shared: bool = False,
    ) -> None:
        """Learn the outcome of a step.

        Args:
            drafts: The drafts that were evaluated.
            run: The tokens that were drawn.
            drafting_s: Seconds for drafting.
            step_s: Seconds for evaluating and drawing.
            overhead_s: Seconds since the previous step that an answer without drafts would not have
                needed, such as for observing and learning.
            shared: Whether the step also held slices of prompts, or drafts of other answers, so
                that its time says nothing about these drafts.
        """
        self._steps += 1
        costs, checked = self._shared.among(self._running), len(drafts) + self._again
        if shared:
            step_s = costs.step_seconds(min(checked, costs.limit))
        else:
            step_s = max(step_s - (self._running - 1) * costs.factor, 0.0)
        if self._resting:
            self._policy.rest(step_s, drafting_s + overhead_s)
            return
        right = common_prefix(self._guessed, run)
        # The rest of a draft that held so far is compared with the next tokens.
        self._guessed = self._guessed[right:] if right == len(run) else ()
        looked_right = common_prefix(self._looked, run)
        self._policy.learn(
            len(run),
            right,
            looked_right,
            step_s,
            drafting_s,
            overhead_s,
            self._again,
            timed=not shared,
        )
        self._drafted += len(drafts)
        self._accepted += common_prefix(drafts, run)

    def roll_back(self, length: int) -> None:
        """Forget what was observed after the first `length` tokens of the KV cache."""
        self._lookup.roll_back(length)
        if self._active is not None:
            self._active.roll_back(length)

    @property
    def standing(self) -> str:
        """A sentence on what can draft for this model, before the first answer."""
        return mtp_status.standing(self.kind, self.costs, self._advice)

    def news(self) -> MtpReport | None:
        """Return a report if it contains something new, otherwise None."""
        if self._steps == self._reported_steps:
            return None
        self._reported_steps = self._steps
        active = self._policy.depth > 0
        if self._steps < self._next_news and active == self._was_active:
            return None
        self._next_news = self._steps + _NEWS_EVERY
        self._was_active = active
        return self.report()

    def report(self) -> MtpReport:
        """Return a report on what MTP did in this answer so far."""
        policy = self._policy
        depth = policy.depth
        gain, bound = policy.gain, policy.bound
        active = self._drafted > 0 and (depth > 0 or self._mode == "on")
        if active and bound is not None:
            reason = mtp_status.running(
                self.kind, max(1, depth), self._drafted, self._accepted, gain, bound
            )
        elif self.drafter is None:
            reason = self._advice
        elif self._mode == "on":
            reason = self.standing
        elif policy.hopeless:
            reason = mtp_status.cannot_win(self.costs) or self._advice
        else:
            reason = mtp_status.no_gain(self.costs, policy.first_share)
        return MtpReport(
            self._mode,
            active,
            reason,
            self.kind,
            depth,
            self._drafted,
            self._accepted,
            gain if self._drafted else None,
            bound if self._drafted else None,
        )

    def _begin_counts(self) -> None:
        self._guessed = self._looked = ()
        self._again = 0
        self._steps = self._drafted = self._accepted = 0
        self._next_news = _FIRST_NEWS
        self._reported_steps = 0
        self._was_active = False
