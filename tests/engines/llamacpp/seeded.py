"""Draw many answers at once, one per seed, with and without drafts, from the real library.

Seeds whose answers begin alike share their evaluations: the logits after a text are the same for
all of them, and only the draws differ. Each seed has its own sampler.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack, closing

from engines.cancel import CancelToken
from engines.llamacpp.context import EVALUATED, Context
from engines.llamacpp.guided import open_sampler
from engines.llamacpp.model import open_model
from engines.llamacpp.native import load_native
from engines.llamacpp.sampling import Sampler
from engines.types import LlamaPlan, Sampling
from tests.engines.llamacpp.random_models import STARTER

Answer = tuple[int, ...]
Drafter = Callable[[Answer], Answer]
"""Returns the drafts after the written part of the answer."""

Rule = Callable[[Sampler, Context, int, int | None], int]
"""Returns the token for a row of logits, at which the given token was drafted, if any."""


def keep_if_drawn(sampler: Sampler, context: Context, row: int, draft: int | None) -> int:
    """Apply the decoder's rule: the draft does not influence the draw."""
    return sampler.draw(context, row)


def no_drafts(written: Answer) -> Answer:
    return ()


class Seeded:
    """The starter model after a prompt."""

    def __init__(self, text: str, length: int) -> None:
        """Load the model.

        Args:
            text: The prompt.
            length: The tokens of an answer.
        """
        self.native = load_native()
        plan = LlamaPlan(STARTER, context=64, threads=1, batch_threads=1)
        self.model = open_model(self.native, plan, lambda _: None, CancelToken())
        assert self.model.guides.faults(['start: "a"']) == [""]  # starts the grammar process
        self.context = Context(self.native, self.model, plan)
        self.prompt = (self.model.vocabulary.bos, *self.model.vocabulary.tokenise(text))
        self.length = length
        self._held = list(self.prompt[:-1])
        assert self.context.evaluate(self._held, 0, outputs=0) == EVALUATED

    def close(self) -> None:
        self.context.close()
        self.model.close()

    def answers(
        self,
        sampling: Sampling,
        seeds: Iterable[int],
        drafter: Drafter = no_drafts,
        rule: Rule = keep_if_drawn,
    ) -> Counter[Answer]:
        """Count how often each answer came."""
        with ExitStack() as stack:
            samplers = [
                stack.enter_context(
                    closing(
                        open_sampler(self.native, self.model, sampling, seed, prior=self.prompt)
                    )
                )
                for seed in seeds
            ]
            found: Counter[Answer] = Counter()
            self._follow((), samplers, drafter, rule, found)
            return found

    def _follow(
        self,
        written: Answer,
        samplers: Sequence[Sampler],
        drafter: Drafter,
        rule: Rule,
        found: Counter[Answer],
    ) -> None:
        """Take one step of the decoder for all seeds that have `written`, and all later steps."""
        drafts = drafter(written)[: self.length - len(written) - 1]
        self.evaluate((*self.prompt, *written), drafts)
        behind: defaultdict[Answer, list[Sampler]] = defaultdict(list)
        for row, draft in enumerate((*drafts, None)):
            matched = []
            for sampler in samplers:
                token = rule(sampler, self.context, row, draft)
                if token == draft and not self.model.vocabulary.ends_generation(token):
                    matched.append(sampler)
                else:
                    behind[*written, *drafts[:row], token].append(sampler)
            samplers = matched
        # The longest first: the drafts that they need are then still in the cache.
        for text, group in sorted(behind.items(), key=lambda item: -len(item[0])):
            if len(text) == self.length or self.model.vocabulary.ends_generation(text[-1]):
                found[text] += len(group)
            else:
                self._follow(text, group, drafter, rule, found)

    def evaluate(self, text: Answer, drafts: Answer = ()) -> None:
        """Evaluate the logits after `text`, and after each of the drafts."""
        keep = len(text) - 1
        assert self._held[:keep] == list(text[:keep])
        assert self.native.api.llama_memory_seq_rm(self.context.memory, 0, keep, -1)
        tokens = [text[-1], *drafts]
        assert self.context.evaluate(tokens, keep, outputs=len(tokens)) == EVALUATED
        self._held[keep:] = tokens
