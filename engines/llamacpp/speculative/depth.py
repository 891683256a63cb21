"""Decides at each step how many tokens to draft ahead: pure, no clock, no chance.

Checking k drafts costs c(k) plain steps (`costs`), making each costs d more, and S(k) tokens are
expected to come of it (`acceptance`): one that the model draws anyway, and the drafts that hold.
What is to be largest is tokens per time in the long run. With v, the tokens that a plain step's
time is worth at the best rate now known, that is the same as making S - v * time largest at each
step (Dinkelbach's argument for ratios): time is paid for at the rate at which it could otherwise
be used. The same sum decides everything here: the source, whether to go on drafting after a draft
of low confidence, and how many drafts to check once their making is spent. All depths are looked
at, since the cost curve is not convex. Where a memory goes back only as a whole, the tokens that
stay of a step with a wrong draft are evaluated once more in the next: what that is expected to take
is part of the time.

What Auto must never do is lose. It therefore plays with credit (`credit`): a little for each
answer, a part of its tokens, and what drafting has won in it. A depth is open only if the credit
covers what it loses on a poor day: with drafts that hold less often than is believed, by the more
the less was seen of them (`Acceptance.cautious`). What pays even then may be drafted without
credit, until too much of it was lost all the same. With little credit the depth is the one that is
least a matter of luck. Where much was won, a depth whose cost is little known is tried if it would
pay at the cost that is to be hoped for (`Costs.hoped`).

While no depth pays, the drafter is watched: what it drafts is not checked, but compared with the
tokens that plain steps then draw. Such a shadow costs d for each draft instead of a whole check.
It comes at once while the text is unknown, every d / 1 % steps later, and again at once after one
that was right; it is as long as all of it is likely to be compared. What prompt lookup proposes
costs nothing to watch.

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
"""A gain that is possible at all must be at least this."""

_OLDEST = 3.0  # times faster that memory fades over text that went by unobserved


class Shadow:
    """Drafts of one answer that nobody checks, compared with the text token by token.

    A draft is compared with the tokens that the model draws. Those that were checked are compared
    in the same step, all others as plain steps come to their places, as long as the chain holds.
    hit: the last comparison held. idle: steps since the last draft.
    """

    def __init__(self) -> None:
        self.hit = False
        self.idle = 0
        self._left: Sequence[int] = ()
        self._held = 0
        self._age = 1.0

    @property
    def follows(self) -> bool:
        """Whether there are drafts that the coming tokens are compared with."""
        return len(self._left) > 0

    def take(self, drafted: Sequence[int]) -> None:
        """Begin a step. It drafted these tokens, told by their confidence, or none."""
        if not drafted:
            self.idle += 1
            return
        self._left, self._held = drafted, 0
        self._age = max(1.0, min(_OLDEST, self.idle / 8))
        self.idle = 0

    def compare(self, known: Acceptance, right: int, out: int) -> bool:
        """Compare the drafts left with `out` tokens, `right` of them equal; False if none left."""
        if not self._left:
            return False
        judged = min(right + 1, out, len(self._left))
        known.learn(self._left, right, judged, self._age, self._held)
        self._age = 1.0
        self.hit = right == judged
        self._left = self._left[judged:] if self.hit else ()
        self._held += judged
        return True


def longest(costs: Costs, room: int, credit: float) -> int:
    """Return the length of the longest shadow: as deep as drafts could ever pay, on credit."""
    if not costs.draft:
        return 1
    could = (k for k in range(room, 0, -1) if k + 1 >= WORTH_TRYING * costs.prices[k])
    return max(1, min(next(could, 1), int(credit / costs.draft)))


ALLOWANCE = 0.01  # credit for each token, and the part of the time spent on watching
_START = 0.8  # credit at the beginning of an answer, whatever the last one won or lost
_DEBT = 1.6  # how far below nothing it may be before what pays on a poor day is closed, too
_SAVED = 2.0  # how far the allowance adds up
_WON = 12.0  # how far what was won adds up
_AMPLE = 2.0  # from here on bad luck is borne


class Credit:
    """The credit of one answer: a little to begin with, a share of its tokens, and the gains.

    have: what there is, in plain steps' time; less than nothing is debt.
    """

    def __init__(self) -> None:
        self.have = _START

    def pay(self, out: int, spent: float) -> None:
        """Pay for a step that took so many plain steps and gave so many tokens."""
        have = self.have + out - spent
        if have < _SAVED:
            have = min(_SAVED, have + ALLOWANCE * out)
        self.have = min(_WON, have)

    @property
    def stake(self) -> float:
        """The most that the next step may lose on a poor day."""
        return max(min(0.0, self.have + _DEBT), self.have)

    @property
    def left(self) -> float:
        """How far the credit is above the deepest debt, at which drafting stops."""
        return self.have + _DEBT

    @property
    def ample(self) -> bool:
        """Whether bad luck can be borne, and a cost that is little known be tried."""
        return self.have >= _AMPLE


_RESERVE = 0.6  # most credit that watching leaves for the drafts that it may lead to
_CURIOUS = 8  # steps after which one draft more is made than pays
_COMPARED = 0.8  # how likely the next draft of a shadow must be compared
_LONGEST_WAIT = 24  # steps without a look at the drafter, while there is credit
_UNKNOWN = 4.0  # observations below which a text is unknown
_STALL = 3.0  # a step that takes so many times what it should was held up by something else
_REMEASURE = 256  # steps after which plain ones are due, to keep the gain honest
_CLOCKED = 7  # latest plain steps whose lower quartile the gain is told against
_CONFIRM = 16  # and until one was timed, or while what put the cost curve right may be wrong
_TRIED = 3  # drafts that are checked once, whatever they cost, to confirm a corrected curve
_TELLING = 8  # one step in so many tells of drafts, where the depth is given
_REFRESH = 16  # steps after which the rates are worked out anew, if nothing was drafted
_SMOOTH = 1 / 16  # of a new step in a running mean


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """The drafter and the most tokens to draft; "none" and 0 for a plain step."""

    source: MtpKind
    drafts: int


_PLAIN = DraftPlan("none", 0)


class DepthPolicy:
    """Decides the depth for a loaded model, and learns; begin each answer with `new_answer`.

    sources: the drafters there are: "lookup", and at most one of "embedded" and "drafter".
    repeats: whether what stays of a step with a wrong draft is evaluated again.
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
        """Begin an answer. depth: drafts at each step, where it is not to be chosen."""
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

    def go_by(self, costs: Costs) -> None:
        """Go by other costs from the next step on, such as those beside other answers."""
        self._costs = costs
        self._plain_steps = deque((costs.factor,), _CLOCKED)
        self._plain_s = costs.factor
        self._after_plain = False
        self._refresh()

    # One step

    def plan(self, room: int, lookup: Sequence[int] | None = None) -> DraftPlan:
        """Plan the next step, with room for that many drafts.

        lookup: confidence of the tokens that prompt lookup proposes, in their order.
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
            self._most = longest(self._costs, room, self._credit.have)
            self._watching = True
        return self._plans[self._most] if self._most else _PLAIN

    def more(self, bucket: int) -> bool:
        """Decide whether another token is worth its time, after one of this confidence."""
        self._drafted.append(bucket)
        made = len(self._drafted)
        if self._exact:
            return made < self._most
        native, ratios, value = self._native, self._hoped, self._value
        self._reach *= native.chance(made - 1, bucket)
        tokens = self._sums[-1] + self._reach
        self._sums.append(tokens)
        again = self._again(made, tokens, self._reach)
        self._best = best = max(self._best, tokens - value * (ratios[made] + again))
        if self._watching:
            return made < self._most and self._reach >= _COMPARED
        reach, extra = self._reach, 0.0
        for k in range(made + 1, self._most + 1):
            reach *= native.chances[k - 1]
            tokens += reach
            extra += self._costs.draft
            if tokens - value * (ratios[k] + extra + self._again(k, tokens, reach)) > best:
                return True
        # One more now and then tells whether deeper drafts still hold no better.
        curious = self._steps % _CURIOUS == 0 and made <= self._checked_last
        return curious and self._credit.ample and made < self._most

    def verify(self) -> int:
        """Decide how many drafted tokens to check; 0 after drafting makes them a shadow."""
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
        beside_seconds: float = 0.0,
        again: int = 0,
        *,
        timed: bool = True,
    ) -> None:
        """Learn from the outcome of the step.

        out: tokens that came out, the kept drafts and one. right, lookup_right: how many of the
        natively drafted and of the proposed tokens equal them, from the first on, whether they
        were checked or not; where nothing was drafted, of those of the last draft that are left
        behind the ones that equalled what came out before. step_seconds, draft_seconds,
        beside_seconds: for the check, for drafting, and for all that an answer without drafts is
        spared. again: tokens that were evaluated before, and once more in this step. timed: whether
        step_seconds were measured, and are not what is believed anyway.
        """
        costs, drafted, checked = self._costs, len(self._drafted), self._checked
        size = checked + again
        # Where the depth is given, the rest is learnt for other answers, and some steps tell it.
        telling = not self._fixed or self._steps % _TELLING == 1
        costs.observe_beside(beside_seconds)
        surprising = timed and costs.observe_step(size, step_seconds)
        spent = self._price(size)
        if drafted:
            if telling:
                costs.observe_draft(drafted, draft_seconds)
            spent += drafted * costs.draft
        if checked or drafted:
            spent += costs.beside
        compared = telling and self._compare(out, right, lookup_right)
        if checked:
            self._since_plain += 1
        elif surprising and not again:
            # The whole curve hangs on the plain step: a strange one is measured again.
            self._since_plain = _REMEASURE
        elif self._after_plain:
            self._since_plain = 0
        self._note_plain(size, step_seconds if timed and not drafted else 0.0)
        if not self._fixed:
            self._pay(out, spent)
        self._tokens += out
        # A stall says nothing of drafting: it would have hit a plain step just as well.
        self._seconds += min(step_seconds + draft_seconds, _STALL * costs.factor * spent)
        self._seconds += beside_seconds
        self._plain_seconds += out * self._plain_s
        self._time += spent
        self._usual += _SMOOTH * (checked - self._usual)
        self._steps += 1
        if compared or self._steps % _REFRESH == 0:
            self._refresh()

    def _compare(self, out: int, right: int, lookup_right: int) -> bool:
        """Learn which drafts held, as `learn`; returns whether any were the model's own."""
        self._shadow.take(self._drafted)
        if self._proposed:
            judged = min(lookup_right + 1, out, len(self._proposed), self._limit)
            self._lookup.learn(self._proposed, min(lookup_right, judged), judged)
        return self._shadow.compare(self._native, right, out)

    def rest(self, step_seconds: float, beside_seconds: float = 0.0) -> None:
        """Note a plain step at which there was nothing to decide or to learn."""
        self._note_plain(0, step_seconds)
        self._tokens += 1
        self._time += 1.0
        self._seconds += min(step_seconds, _STALL * self._plain_s) + beside_seconds
        self._plain_seconds += self._plain_s
        self._usual -= _SMOOTH * self._usual

    def _note_plain(self, checked: int, seconds: float) -> None:
        """Take the time of a plain step behind another one, as all are in an answer without drafts.

        One behind drafts takes longer, and what is believed of it meanwhile grows with the steps
        that check: told against that, drafts would seem to gain what they lose. What holds a step
        up makes it longer and never shorter, so the lower ones count.
        """
        if checked == 0 and self._after_plain and seconds > 0:
            self._plain_steps.append(seconds)
            ordered = sorted(self._plain_steps)
            self._plain_s = ordered[(len(ordered) - 1) // 4]
        self._checked_last = checked
        self._after_plain = checked == 0

    # What to say of it

    @property
    def hopeless(self) -> bool:
        """Whether, by all known costs, even a drafter that is always right would gain nothing."""
        return self._costs.too_fast or (self._hopeless and not self._costs.untried)

    @property
    def first_share(self) -> float:
        """The share of the model's own first drafts that were right lately, 0 to 1."""
        return self._native.chances[0]

    @property
    def promise(self) -> float:
        """The tokens that a plain step's time is expected to give, infinite until that is known."""
        return self._rate if self._native.observations >= _UNKNOWN else inf

    @property
    def depth(self) -> int:
        """The usual number of drafts checked, lately."""
        return round(self._usual)

    @property
    def gain(self) -> float | None:
        """Speed of this answer so far over that of plain steps; None before any was timed.

        Never above the bound: then the plain steps were held up, and the others were not.
        """
        bound = self.bound
        if not self._clocked or self._seconds <= 0 or bound is None:
            return None
        return min(bound, self._plain_seconds / self._seconds)

    @property
    def _clocked(self) -> bool:
        """Whether a plain step was timed while answering, and not in a calibration alone."""
        return len(self._plain_steps) > 1

    @property
    def bound(self) -> float | None:
        """The gain that the cost curve gives the tokens of this answer: no time lost elsewhere."""
        return self._tokens / self._time if self._time > 0 else None

    # Inside

    def _begin(self, proposed: Sequence[int], value: float) -> None:
        self._source: MtpKind = "none"
        self._proposed = proposed
        self._drafted: list[int] = []
        self._most = self._checked = 0
        self._watching = False  # whether what is drafted is only to be compared
        self._exact = False  # whether `_most` are drafted and checked, whatever comes of it
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
        """Plan drafts from the text itself, where that is the best use of the time."""
        sums, reach, tokens, rate = self._sums, 1.0, 1.0, 0.0
        for position, bucket in enumerate(proposed[:room]):
            reach *= self._lookup.chance(position, bucket)
            tokens += reach
            sums.append(tokens)
            again = self._again(position + 1, tokens, reach)
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
            expected[k] - self._value * (ratios[k] + k * draft + self._again_of(k))
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
            again = self._again(k, tokens, tokens - self._sums[k - 1])
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

    def _again(self, k: int, tokens: float, held: float) -> float:
        """Return the time that evaluating again is expected to take after a step with k drafts.

        tokens: expected of the step. held: the chance that all drafts hold, and none is evaluated
        again. Each takes its part of what c(k) is above c(0).
        """
        if not self._repeats:
            return 0.0
        return (self._costs.ratios[k] - 1) / k * max(0.0, tokens - (k + 1) * held)

    def _again_of(self, k: int) -> float:
        """Return the same for drafts of the model's own drafter, as they are expected to hold."""
        expected = self._native.expected
        return self._again(k, expected[k], expected[k] - expected[k - 1])

    @property
    def _hoped(self) -> Sequence[float]:
        """Return c(k) as it may turn out where there is something to spare."""
        return self._costs.hoped if self._credit.ample else self._costs.ratios

    def _open(self, room: int) -> int:
        """Return the deepest depth that the credit covers; 0 if none that it covers pays.

        While there is little, it is the one at which the logarithm of what is left to lose grows
        fastest, to the second order (Kelly's criterion): a deeper one may gain more, but is more
        a matter of luck, and where all is lost nothing is gained any more.
        """
        prices, expected = self._costs.prices, self._native.expected
        cautious, stake, left = self._native.cautious, self._credit.stake, self._credit.left
        deepest, steady, fastest = 0, 0, -inf
        square = 1.0  # the mean of the squared number of tokens
        for k in range(1, room + 1):
            tokens, time = expected[k], prices[k] + self._again_of(k)
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
        have = self._credit.have
        if have - draft < self._reserve:
            # what is saved is wanted for real drafts: look at a third of the pace
            return self._rate > 1 and have >= draft and self._shadow.idle >= 3 * wait
        unknown = self._native.observations < _UNKNOWN
        return unknown or self._shadow.hit or self._shadow.idle >= wait

    def _pay(self, out: int, spent: float) -> None:
        self._credit.pay(out, spent)
        tokens, time = self._pace
        self._pace = (tokens + _SMOOTH * (out - tokens), time + _SMOOTH * (spent - time))

    def _refresh(self) -> None:
        """Work out the best rate of the model's own drafter, and whether it could ever win."""
        if self._kind == "none":
            self._rate, self._reserve, self._hopeless = 0.0, 0.0, True
            return
        prices = self._costs.prices
        expected, cautious = self._native.expected, self._native.cautious
        rate, could, pays = 0.0, inf, inf  # the least stakes of depths that could pay, that do
        for k in range(1, self._limit + 1):
            price = prices[k] + self._again_of(k)
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
