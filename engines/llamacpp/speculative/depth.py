"""Decides at each step how many tokens to draft. Pure: without a clock or random numbers.

Checking k drafts costs c(k) plain steps (`costs`), making each draft costs d more, and S(k) tokens
are expected from the step (`acceptance`): one that the model draws anyway, and the drafts that
hold. The goal is the most tokens per time in the long run. Let v be the number of tokens that the
time of a plain step is worth at the best rate now known. Then the goal is the same as the largest S
- v * time at each step (Dinkelbach's argument for ratios): time is paid for at the rate at which it
could otherwise be used. The same expression decides everything here: the source of drafts, whether
to continue drafting after a draft of low confidence, and how many drafts to check once they are
made. All depths are examined, since the cost curve is not convex. If a memory can only be restored
as a whole, the tokens that stay after a step with a wrong draft are evaluated again in the next
step; the expected time for this is included.

Auto must never lose time. It therefore works with credit (`Credit`): a little for each answer, a
share of its tokens, and the time that drafting has won in it. A depth is open only if the credit
covers its loss on a bad day: with drafts that hold less often than believed, by a margin that is
larger the less was observed (`Acceptance.cautious`). Drafts that pay even on a bad day need no
credit, until too much was lost on them anyway. With little credit, the depth is the one that
depends least on luck. With much credit, a depth whose cost is little known is tried if it would pay
at its optimistic cost (`Costs.hoped`).

While no depth pays, the drafter is watched: its drafts are not checked, but compared with the
tokens that plain steps then draw. Such a shadow costs d for each draft instead of a whole check.
One comes at once while the text is unknown, then every d / 1 % steps, and again at once after a
right one. It is as long as all of it is likely to be compared. Watching prompt lookup costs
nothing.

One step: `plan`, `more` after each token of the model's own drafter, `verify`, `learn`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf

from engines.llamacpp.speculative.acceptance import Acceptance
from engines.llamacpp.speculative.costs import Costs
from engines.types import MtpKind, MtpMode

WORTH_TRYING = 1.02
"""The least gain that must be possible before drafting is tried."""

_OLDEST = 3.0  # the most times faster that memory fades over unobserved text


class Shadow:
    """Drafts of one answer that are not checked, but compared with the text token by token.

    A draft is compared with the tokens that the model draws. Checked drafts are compared in the
    same step, all others when plain steps reach their places, as long as the chain holds.

    Attributes:
        hit: Whether the last comparison held.
        idle: Number of steps since the last draft.
    """

    def __init__(self) -> None:
        self.hit = False
        self.idle = 0
        self._left: Sequence[int] = ()
        self._confirmed = 0
        self._age = 1.0

    @property
    def follows(self) -> bool:
        """True if there are drafts to compare with the next tokens."""
        return len(self._left) > 0

    def take(self, drafted: Sequence[int]) -> None:
        """Start a step.

        Args:
            drafted: The confidence of each token that the step drafted, or empty.
        """
        if not drafted:
            self.idle += 1
            return
        self._left, self._confirmed = drafted, 0
        self._age = max(1.0, min(_OLDEST, self.idle / 8))
        self.idle = 0

    def compare(self, known: Acceptance, right: int, out: int) -> bool:
        """Compare the remaining drafts with `out` tokens, `right` of them equal.

        Returns:
            False if no drafts remained.
        """
        if not self._left:
            return False
        judged = min(right + 1, out, len(self._left))
        known.learn(self._left, right, judged, self._age, self._confirmed)
        self._age = 1.0
        self.hit = right == judged
        self._left = self._left[judged:] if self.hit else ()
        self._confirmed += judged
        return True


def longest(costs: Costs, room: int, credit: float) -> int:
    """Return the length of the longest shadow: as deep as drafts could ever pay, on credit."""
    if not costs.draft:
        return 1
    could = (k for k in range(room, 0, -1) if k + 1 >= WORTH_TRYING * costs.prices[k])
    return max(1, min(next(could, 1), int(credit / costs.draft)))


ALLOWANCE = 0.01  # credit for each token, and the share of time spent on watching
_START = 0.8  # credit at the start of an answer, whatever the last one won or lost
_DEBT = 1.6  # the debt at which even depths that pay on a bad day are closed
_SAVED = 2.0  # the most credit that the allowance adds up to
_WON = 12.0  # the most credit that gains add up to
_AMPLE = 2.0  # with this much, bad luck can be borne


class Credit:
    """The credit of one answer: a starting amount, a share of its tokens, and its gains.

    Attributes:
        balance: The current credit, in times of plain steps; negative for debt.
    """

    def __init__(self) -> None:
        self.balance = _START

    def pay(self, out: int, spent: float) -> None:
        """Pay for a step.

        Args:
            out: Number of tokens that the step gave.
            spent: The time that it took, in plain steps.
        """
        balance = self.balance + out - spent
        if balance < _SAVED:
            balance = min(_SAVED, balance + ALLOWANCE * out)
        self.balance = min(_WON, balance)

    @property
    def stake(self) -> float:
        """The most that the next step may lose on a bad day."""
        return max(min(0.0, self.balance + _DEBT), self.balance)

    @property
    def left(self) -> float:
        """The distance of the credit from the deepest debt, at which drafting stops."""
        return self.balance + _DEBT

    @property
    def ample(self) -> bool:
        """True if bad luck can be borne, and a depth with a little-known cost can be tried."""
        return self.balance >= _AMPLE


_RESERVE = 0.6  # the most credit that watching reserves for the drafts that follow
_CURIOUS = 8  # every so many steps, one draft more is made than pays
_COMPARED = 0.8  # the least chance that a shadow's next draft is compared
_LONGEST_WAIT = 24  # the most steps without watching the drafter, while there is credit
_UNKNOWN = 4.0  # a text with fewer observations is unknown
_STALL = 3.0  # a step that takes this many times as long as it should was held up
_REMEASURE = 256  # steps after which a plain step is due, to keep the gain honest
_CLOCKED = 7  # the gain is relative to the lower quartile of so many latest plain steps
_CONFIRM = 16  # the same until one was timed, or while the corrected curve may be wrong
_TRIED = 3  # number of drafts checked once, at any cost, to confirm a corrected curve
_TELLING = 8  # with a fixed depth, one in so many steps is learnt from
_REFRESH = 16  # steps after which the rates are computed again, if nothing was drafted
_SMOOTH = 1 / 16  # weight of a new step in a running mean


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """The drafter to use and the most tokens to draft; "none" and 0 for a plain step."""

    source: MtpKind
    drafts: int


_PLAIN = DraftPlan("none", 0)


class DepthPolicy:
    """Chooses the depth for a loaded model, and learns. Start each answer with `new_answer`.

    Args:
        costs: The costs of steps and drafts.
        limit: The most drafts in a step.
        sources: The available drafters: "lookup", and at most one of "embedded" and "drafter".
        repeats: Whether the tokens that stay after a step with a wrong draft are evaluated again.
    """

    def __init__(
        self, costs: Costs, limit: int, sources: Collection[MtpKind], *, repeats: bool = False
    ) -> None:
        self._costs = costs
        self._repeats = repeats
        self._limit = min(limit, costs.limit)
        own: tuple[MtpKind, ...] = ("embedded", "drafter") if self._limit > 0 else ()
        self._kind: MtpKind = next((kind for kind in own if kind in sources), "none")
        self._native = Acceptance(self._limit)
        self._lookup = Acceptance(self._limit)
        self._uses_lookup = "lookup" in sources
        self._plans = [DraftPlan(self._kind, k) for k in range(self._limit + 1)]
        self._pace = (1.0, 1.0)
        self._best = 0.0
        self._checked_last = 0
        self._plain_steps = deque((costs.factor,), _CLOCKED)
        self._plain_s = costs.factor
        self.new_answer()

    def new_answer(self, mode: MtpMode = "auto", depth: int | None = None) -> None:
        """Start an answer.

        Args:
            mode: Whether drafting is on or chosen automatically.
            depth: Number of drafts at each step; None to choose it.
        """
        self._least = 1 if mode == "on" else 0
        self._fixed = min(depth, self._limit) if depth is not None else 0
        self._credit = Credit()
        self._since_plain = 0
        self._after_plain = False
        self._shadow = Shadow()
        self._tokens = 0
        self._seconds = self._plain_seconds = self._time = 0.0
        self._usual = 0.0
        self._steps = 0
        self._begin((), 1.0)
        self._native.doubt()
        self._lookup.doubt()
        self._refresh()

    def use_costs(self, costs: Costs) -> None:
        """Use other costs from the next step on, such as those among several answers."""
        self._costs = costs
        self._plain_steps = deque((costs.factor,), _CLOCKED)
        self._plain_s = costs.factor
        self._after_plain = False
        self._refresh()

    # One step

    def plan(self, room: int, lookup: Sequence[int] | None = None) -> DraftPlan:
        """Plan the next step.

        Args:
            room: The most drafts that there is room for.
            lookup: The confidence of each token that prompt lookup proposes, in order.
        """
        proposed = lookup if lookup and self._uses_lookup else ()
        room = min(room, self._limit)
        if self._fixed:
            return self._plan_fixed(room, proposed)
        self._begin(proposed, self._rate)
        sure = self._clocked and not self._costs.corrected
        due = _REMEASURE if sure else _CONFIRM
        if room <= 0 or self._since_plain >= due:
            return _PLAIN
        if self._costs.untried and self._kind != "none":
            self._exact = True
            self._most = min(_TRIED, room)
            return self._plans[self._most]
        if proposed:
            plan = self._plan_lookup(room, proposed)
            if plan is not None:
                return plan
        if self._kind == "none" or (self._hopeless and not self._least):
            return _PLAIN
        if self._least:
            self._most = room
        elif self._rate > 1:
            self._most = self._open(room)
        if self._most == 0 and not self._shadow.follows and self._shadow_due():
            self._most = longest(self._costs, room, self._credit.balance)
            self._watching = True
        return self._plans[self._most] if self._most else _PLAIN

    def more(self, bucket: int) -> bool:
        """Return whether another token is worth its time, after one with this confidence."""
        self._drafted.append(bucket)
        count = len(self._drafted)
        if self._exact:
            return count < self._most
        native, ratios, value = self._native, self._hoped, self._value
        self._reach *= native.chance(count - 1, bucket)
        tokens = self._sums[-1] + self._reach
        self._sums.append(tokens)
        again = self._repeat_cost(count, tokens, self._reach)
        self._best = best = max(self._best, tokens - value * (ratios[count] + again))
        if self._watching:
            return count < self._most and self._reach >= _COMPARED
        reach, extra = self._reach, 0.0
        for k in range(count + 1, self._most + 1):
            reach *= native.chances[k - 1]
            tokens += reach
            extra += self._costs.draft
            if tokens - value * (ratios[k] + extra + self._repeat_cost(k, tokens, reach)) > best:
                return True
        # An occasional extra draft shows whether deeper drafts still hold no better.
        curious = self._steps % _CURIOUS == 0 and count <= self._checked_last
        return curious and self._credit.ample and count < self._most

    def verify(self) -> int:
        """Return how many drafted tokens to check; 0 after drafting turns them into a shadow."""
        if self._exact:
            self._checked = self._most if self._source == "lookup" else len(self._drafted)
            return self._checked
        if self._source != "lookup":
            sunk = len(self._drafted) * self._costs.draft
            self._checked = self._worth_checking(sunk, self._native)
        return self._checked

    def learn(
        self,
        out: int,
        right: int,
        lookup_right: int,
        step_seconds: float,
        draft_seconds: float = 0.0,
        overhead_seconds: float = 0.0,
        again: int = 0,
        *,
        timed: bool = True,
    ) -> None:
        """Learn from the outcome of the step.

        If nothing was drafted, `right` and `lookup_right` count the remaining tokens of the last
        draft, after those that equalled earlier tokens.

        Args:
            out: Number of tokens that the step gave: the kept drafts and one more.
            right: Number of tokens from the model's own drafter that equal them, from the first on,
                whether checked or not.
            lookup_right: The same for tokens proposed by prompt lookup.
            step_seconds: Seconds for evaluating and drawing.
            draft_seconds: Seconds for drafting.
            overhead_seconds: Seconds for everything else that an answer without drafts does not
                need.
            again: Number of tokens that were evaluated before, and again in this step.
            timed: Whether step_seconds were measured, rather than taken from the believed costs.
        """
        costs, drafted, checked = self._costs, len(self._drafted), self._checked
        size = checked + again
        # With a fixed depth, drafts are only learnt about for other answers, and some steps
        # suffice.
        is_informative = not self._fixed or self._steps % _TELLING == 1
        costs.observe_overhead(overhead_seconds)
        surprising = timed and costs.observe_step(size, step_seconds)
        spent = self._price(size)
        if drafted:
            if is_informative:
                costs.observe_draft(drafted, draft_seconds)
            spent += drafted * costs.draft
        if checked or drafted:
            spent += costs.overhead
        compared = is_informative and self._compare(out, right, lookup_right)
        if checked:
            self._since_plain += 1
        elif surprising and not again:
            # The whole curve depends on the plain step, so a surprising one is measured again.
            self._since_plain = _REMEASURE
        elif self._after_plain:
            self._since_plain = 0
        self._note_plain(size, step_seconds if timed and not drafted else 0.0)
        if not self._fixed:
            self._pay(out, spent)
        self._tokens += out
        # A stall says nothing about drafting: it would have hit a plain step just as well.
        self._seconds += min(step_seconds + draft_seconds, _STALL * costs.factor * spent)
        self._seconds += overhead_seconds
        self._plain_seconds += out * self._plain_s
        self._time += spent
        self._usual += _SMOOTH * (checked - self._usual)
        self._steps += 1
        if compared or self._steps % _REFRESH == 0:
            self._refresh()

    def _compare(self, out: int, right: int, lookup_right: int) -> bool:
        """Learn which drafts held, as in `learn`; return whether any were the model's own."""
        self._shadow.take(self._drafted)
        if self._proposed:
            judged = min(lookup_right + 1, out, len(self._proposed), self._limit)
            self._lookup.learn(self._proposed, min(lookup_right, judged), judged)
        return self._shadow.compare(self._native, right, out)

    def rest(self, step_seconds: float, overhead_seconds: float = 0.0) -> None:
        """Note a plain step at which there was nothing to decide or to learn."""
        self._note_plain(0, step_seconds)
        self._tokens += 1
        self._time += 1.0
        self._seconds += min(step_seconds, _STALL * self._plain_s) + overhead_seconds
        self._plain_seconds += self._plain_s
        self._usual -= _SMOOTH * self._usual

    def _note_plain(self, checked: int, seconds: float) -> None:
        """Note the time of a plain step after another one, as all are in an answer without drafts.

        A plain step after drafts takes longer, and the believed time of plain steps grows with the
        steps that check: relative to that, drafts would seem to gain the time they lose.
        Interruptions only make a step longer, never shorter, so the lower times count.
        """
        if checked == 0 and self._after_plain and seconds > 0:
            self._plain_steps.append(seconds)
            ordered = sorted(self._plain_steps)
            self._plain_s = ordered[(len(ordered) - 1) // 4]
        self._checked_last = checked
        self._after_plain = checked == 0

    # Reporting

    @property
    def hopeless(self) -> bool:
        """True if, by all known costs, even a drafter that is always right would gain nothing."""
        return self._costs.too_fast or (self._hopeless and not self._costs.untried)

    @property
    def first_share(self) -> float:
        """The share of the model's own first drafts that were right recently, 0 to 1."""
        return self._native.chances[0]

    @property
    def promise(self) -> float:
        """The tokens expected in the time of a plain step; infinite until that is known."""
        return self._rate if self._native.observations >= _UNKNOWN else inf

    @property
    def depth(self) -> int:
        """The usual number of drafts checked recently."""
        return round(self._usual)

    @property
    def gain(self) -> float | None:
        """The speed of this answer so far, relative to plain steps; None before any was timed.

        Never above the bound: if it were, the plain steps were held up and the others were not.
        """
        bound = self.bound
        if not self._clocked or self._seconds <= 0 or bound is None:
            return None
        return min(bound, self._plain_seconds / self._seconds)

    @property
    def _clocked(self) -> bool:
        """True if a plain step was timed while answering, not only in a calibration."""
        return len(self._plain_steps) > 1

    @property
    def bound(self) -> float | None:
        """The gain for this answer's tokens by the cost curve, with no time lost elsewhere."""
        return self._tokens / self._time if self._time > 0 else None

    # Internals

    def _begin(self, proposed: Sequence[int], value: float) -> None:
        self._source: MtpKind = "none"
        self._proposed = proposed
        self._drafted: list[int] = []
        self._most = self._checked = 0
        self._watching = False  # whether the drafts are only compared
        self._exact = False  # whether `_most` are drafted and checked in any case
        self._value = max(1.0, value) if not self._least else value
        self._reach = 1.0
        self._sums = [1.0]
        self._best = 1.0 - self._value

    def _plan_fixed(self, room: int, proposed: Sequence[int]) -> DraftPlan:
        self._begin(proposed, 1.0)
        self._exact = True
        self._most = min(self._fixed, room)
        if self._kind != "none":
            return self._plans[self._most] if self._most else _PLAIN
        self._most = min(self._most, len(proposed))
        self._source = "lookup"
        return DraftPlan("lookup", self._most) if self._most else _PLAIN

    def _plan_lookup(self, room: int, proposed: Sequence[int]) -> DraftPlan | None:
        """Plan drafts from the text itself, if that is the best use of the time."""
        sums, reach, tokens, rate = self._sums, 1.0, 1.0, 0.0
        for position, bucket in enumerate(proposed[:room]):
            reach *= self._lookup.chance(position, bucket)
            tokens += reach
            sums.append(tokens)
            again = self._repeat_cost(position + 1, tokens, reach)
            rate = max(rate, tokens / (self._costs.ratios[position + 1] + again))
        tokens, time = self._pace
        self._value = max(self._value, min(rate, tokens / time))
        self._best = 1.0 - self._value
        drafts = self._rate > 1 or (self._least and self._kind != "none")
        native = self._native_value() if drafts else self._best
        checked = self._worth_checking(0.0, self._lookup)
        if checked and sums[checked] - self._value * self._costs.ratios[checked] >= native:
            self._source = "lookup"
            self._checked = checked
            return DraftPlan("lookup", checked)
        self._sums = [1.0]
        return None

    def _native_value(self) -> float:
        ratios, draft = self._costs.ratios, self._costs.draft
        expected = self._native.expected
        return max(
            expected[k] - self._value * (ratios[k] + k * draft + self._own_repeat_cost(k))
            for k in range(1, self._limit + 1)
        )

    def _worth_checking(self, sunk: float, known: Acceptance) -> int:
        """Return the best number of drafts to check, among those that the credit covers."""
        ratios, hoped = self._costs.ratios, self._hoped
        value, stake = self._value, self._credit.stake
        best, most = 0, 1.0 - value * self._price(0)
        if self._least and len(self._sums) > 1:
            most = -inf
        for k in range(1, len(self._sums)):
            tokens = self._sums[k]
            again = self._repeat_cost(k, tokens, tokens - self._sums[k - 1])
            worth = tokens - value * (self._price(k) - ratios[k] + hoped[k] + again)
            poorer = known.expected[k] - known.cautious[k]
            loses = ratios[k] + again + sunk + poorer - tokens
            if worth > most and (self._least or loses <= stake):
                best, most = k, worth
        return best

    def _price(self, k: int) -> float:
        """Return the time of the next step if it checks k drafts, in plain steps."""
        switch = self._costs.switch if k != self._checked_last else 0.0
        return self._costs.ratios[k] + switch

    def _repeat_cost(self, k: int, tokens: float, all_hold: float) -> float:
        """Return the expected time for evaluating tokens again after a step with k drafts.

        Each repeated token costs its part of the difference between c(k) and c(0).

        Args:
            k: Number of drafts.
            tokens: Number of tokens expected from the step.
            all_hold: The chance that all drafts hold, so that none is evaluated again.
        """
        if not self._repeats:
            return 0.0
        return (self._costs.ratios[k] - 1) / k * max(0.0, tokens - (k + 1) * all_hold)

    def _own_repeat_cost(self, k: int) -> float:
        """Return the same for k drafts of the model's own drafter, with its expected acceptance."""
        expected = self._native.expected
        return self._repeat_cost(k, expected[k], expected[k] - expected[k - 1])

    @property
    def _hoped(self) -> Sequence[float]:
        """The ratios c(k): the optimistic ones if there is credit to spare."""
        return self._costs.hoped if self._credit.ample else self._costs.ratios

    def _open(self, room: int) -> int:
        """Return the deepest depth that the credit covers; 0 if none of those pays.

        With little credit, it is the depth at which the logarithm of what is left to lose grows
        fastest, to the second order (Kelly's criterion): a deeper one might gain more, but depends
        more on luck, and once everything is lost there are no gains any more.
        """
        prices, expected = self._costs.prices, self._native.expected
        cautious, stake, left = self._native.cautious, self._credit.stake, self._credit.left
        deepest, steady, fastest = 0, 0, -inf
        square = 1.0  # the mean of the square of the number of tokens
        for k in range(1, room + 1):
            tokens, time = expected[k], prices[k] + self._own_repeat_cost(k)
            square += (2 * k + 1) * (tokens - expected[k - 1])
            if time - cautious[k] <= stake:
                deepest = k
                grows = (2 * left * (tokens - time) - square + tokens * tokens) / time
                if tokens > time and grows > fastest:
                    steady, fastest = k, grows
        return deepest if steady and self._credit.ample else steady

    def _shadow_due(self) -> bool:
        draft = self._costs.draft
        wait = min(draft / ALLOWANCE, _LONGEST_WAIT)
        balance = self._credit.balance
        if balance - draft < self._reserve:
            # the credit is needed for real drafts, so watch only a third as often
            return self._rate > 1 and balance >= draft and self._shadow.idle >= 3 * wait
        unknown = self._native.observations < _UNKNOWN
        return unknown or self._shadow.hit or self._shadow.idle >= wait

    def _pay(self, out: int, spent: float) -> None:
        self._credit.pay(out, spent)
        tokens, time = self._pace
        self._pace = (tokens + _SMOOTH * (out - tokens), time + _SMOOTH * (spent - time))

    def _refresh(self) -> None:
        """Compute the best rate of the model's own drafter, and whether it could ever win."""
        if self._kind == "none":
            self._rate, self._reserve, self._hopeless = 0.0, 0.0, True
            return
        prices = self._costs.prices
        expected, cautious = self._native.expected, self._native.cautious
        # could, pays: the least stake of a depth that could pay, and of one that does.
        rate, could, pays = 0.0, inf, inf
        for k in range(1, self._limit + 1):
            price = prices[k] + self._own_repeat_cost(k)
            stake = price - cautious[k]
            if expected[k] > rate * price:
                rate = expected[k] / price
            if stake < could and k + 1 >= WORTH_TRYING * prices[k]:
                could = stake
            if stake < pays and expected[k] > price:
                pays = stake
        self._rate, self._hopeless = rate, could == inf
        if rate > 1:
            self._reserve = max(0.0, pays)
        else:
            self._reserve = 0.0 if self._hopeless else max(0.0, min(_RESERVE, could))
