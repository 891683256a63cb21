"""Measures the finished files: the quality of the answers, and the agreement of both formats."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import torch
from transformers import (
    Gemma4AssistantForCausalLM,
    Gemma4ForCausalLM,
    GemmaTokenizer,
)

from guide.batches import additive
from guide.dialogues import Dialogue, Exchange, held_out_questions
from guide.drafter import asked_rounds, guesses
from guide.encoding import Encoder, Noise
from guide.intents import OUT_OF_SCOPE, Intent, Knowledge
from guide.llama import Drafts, Pair
from guide.scoring import padded
from guide.wording import SYSTEM_PROMPTS

DEPTH = 2
TEMPLATED = 300
LONG_CHATS, LONG_TOKENS = 8, 2000
AGREEMENT_CHATS, AGREEMENT_TURNS = 12, 6
DRAFT_CHATS, DRAFT_TURNS = 4, 2

Asked = tuple[Intent, str]
Message = dict[str, str]


@dataclass(frozen=True)
class Figures:
    """All shares are from 0 to 1; `wrong` lists the questions answered wrongly."""

    examined: int
    examination: float
    examination_out_of_scope: float
    questions: int
    held_out: float
    held_out_topics: float
    held_out_small_talk: float
    held_out_out_of_scope: float
    templated_out_of_scope: float
    with_system_prompt: float
    well_formed: float
    acceptance: float
    drafted: int
    target_agreement: float
    drafter_agreement: float
    compared_positions: int
    compared_drafts: int
    long_chat: float
    long_chat_alone: float
    long_chat_turns: int
    long_chat_tokens: int
    target_parameters: int
    drafter_parameters: int
    wrong: tuple[tuple[str, str, str], ...]

    def as_dict(self) -> dict[str, object]:
        """Return the figures as plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Reply:
    """A question, and the name of the intent whose answer came; "" if it equals none."""

    asked: Asked
    given: str

    @property
    def right(self) -> bool:
        """Whether the answer was exactly the right one."""
        return self.given == self.asked[0].name


class Evaluation:
    """Measures the files in `folder` (as make.py lays them out)."""

    def __init__(
        self,
        folder: Path,
        knowledge: Knowledge,
        examination: Sequence[Asked],
        threads: int,
        seed: int,
    ) -> None:
        weights = folder / "safetensors"
        self._tokenizer = GemmaTokenizer.from_pretrained(weights / "target")
        self._target = Gemma4ForCausalLM.from_pretrained(
            weights / "target", dtype=torch.float32, attn_implementation="eager"
        )
        self._drafter = Gemma4AssistantForCausalLM.from_pretrained(
            weights / "drafter", dtype=torch.float32, attn_implementation="eager"
        )
        self._pair = Pair(folder / "starter.gguf", folder / "starter-mtp.gguf", threads)
        self._knowledge = knowledge
        self._examination = examination
        self._names = {intent.answer: intent.name for intent in knowledge.intents}
        self._seed = seed
        self._encoder = Encoder(self._tokenizer, Random(seed))
        self._drafts = Drafts()

    def run(self) -> Figures:
        """Measure everything; takes a few minutes."""
        questions = held_out_questions(self._knowledge, self._seed, TEMPLATED)
        own, templated = questions[:-TEMPLATED], questions[-TEMPLATED:]
        with self._pair:
            examined = [self._reply(asked) for asked in self._examination]
            replies = [self._reply(asked) for asked in own]
            unknown = [self._reply(asked) for asked in templated]
            systems = [
                self._reply(asked, SYSTEM_PROMPTS[number % len(SYSTEM_PROMPTS)])
                for number, asked in enumerate(own[::4])
            ]
            drafts = Drafts(self._drafts.drafted, self._drafts.accepted)
            chats = self._long_chats(own)
            positions = self._target_agreement()
            compared = self._drafter_agreement()
        alone = {reply.asked[1]: reply.right for reply in replies}
        turns = [reply for chat, _ in chats for reply in chat]
        return Figures(
            examined=len(examined),
            examination=_share([reply.right for reply in examined]),
            examination_out_of_scope=_share(
                [r.right for r in examined if r.asked[0].name == OUT_OF_SCOPE]
            ),
            questions=len(replies),
            held_out=_share([reply.right for reply in replies]),
            held_out_topics=_share([r.right for r in replies if _is_topic(r.asked[0])]),
            held_out_small_talk=_share([r.right for r in replies if r.asked[0].small_talk]),
            held_out_out_of_scope=_share(
                [r.right for r in replies if r.asked[0].name == OUT_OF_SCOPE]
            ),
            templated_out_of_scope=_share([reply.right for reply in unknown]),
            with_system_prompt=_share([reply.right for reply in systems]),
            well_formed=_share(
                [bool(reply.given) for reply in examined + replies + unknown + systems]
            ),
            acceptance=drafts.acceptance,
            drafted=drafts.drafted,
            target_agreement=_share(positions),
            drafter_agreement=_share(compared),
            compared_positions=len(positions),
            compared_drafts=len(compared),
            long_chat=_share([reply.right for reply in turns]),
            long_chat_alone=_share([alone[reply.asked[1]] for reply in turns]),
            long_chat_turns=len(turns),
            long_chat_tokens=max(length for _, length in chats),
            target_parameters=self._target.num_parameters(),
            drafter_parameters=self._drafter.num_parameters(),
            wrong=tuple(
                (r.asked[0].name, r.given, r.asked[1]) for r in examined + replies if not r.right
            ),
        )

    def _reply(self, asked: Asked, system: str = "") -> Reply:
        messages = [{"role": "system", "content": system}] if system else []
        return self._ask(messages, asked)[0]

    def _ask(self, before: Sequence[Message], asked: Asked) -> tuple[Reply, str, int]:
        """Ask a question after `before`; return the reply, its text, and the prompt's tokens."""
        prompt = self._tokenizer.apply_chat_template(
            [*before, {"role": "user", "content": asked[1]}],
            add_generation_prompt=True,
            tokenize=False,
        )
        tokens = self._pair.tokenize(str(prompt))
        answer, drafts = self._pair.answer(tokens, self._encoder.stops, DEPTH)
        self._drafts.drafted += drafts.drafted
        self._drafts.accepted += drafts.accepted
        text = str(self._tokenizer.decode(answer))
        return Reply(asked, self._names.get(text, "")), text, len(tokens)

    def _long_chats(self, questions: Sequence[Asked]) -> list[tuple[list[Reply], int]]:
        """Hold chats of held-out questions up to LONG_TOKENS, with the guide's own answers."""
        rng = Random(self._seed)
        chats = []
        for _ in range(LONG_CHATS):
            messages: list[Message] = []
            replies: list[Reply] = []
            length = 0
            while length < LONG_TOKENS:
                reply, text, length = self._ask(messages, rng.choice(questions))
                replies.append(reply)
                messages += [
                    {"role": "user", "content": reply.asked[1]},
                    {"role": "assistant", "content": text},
                ]
            chats.append((replies, length))
        return chats

    def _target_agreement(self) -> list[bool]:
        """Return for each position of some chats whether both formats prefer the same token."""
        equal: list[bool] = []
        for dialogue in self._chats(AGREEMENT_CHATS, AGREEMENT_TURNS):
            batch = padded([self._encoder.encode(dialogue, Noise())], self._encoder.pad)
            with torch.no_grad():
                logits = self._target(
                    input_ids=batch.ids,
                    attention_mask=additive(batch.masks(), torch.float32),
                    position_ids=batch.positions,
                    use_cache=False,
                ).logits[0]
            other, _ = self._pair.read(batch.ids[0].tolist())
            equal += (logits.argmax(-1).numpy() == other.argmax(-1)).tolist()
        return equal

    def _drafter_agreement(self) -> list[bool]:
        """Return the same for the drafter, for each guess of the rounds inside answers."""
        equal: list[bool] = []
        for dialogue in self._chats(DRAFT_CHATS, DRAFT_TURNS):
            batch = padded([self._encoder.encode(dialogue, Noise())], self._encoder.pad)
            ids = batch.ids[0].tolist()
            with torch.no_grad():
                expected = [
                    drafted[0].argmax(-1).tolist()
                    for drafted, _ in guesses(self._drafter, self._target, batch, DEPTH)
                ]
            rounds = asked_rounds(batch, DEPTH - 1)[0].nonzero()[:, 0].tolist()
            for position in rounds:
                _, states = self._pair.read(ids[:position])
                state = states[-1]
                for guess in range(DEPTH):
                    logits, state = self._pair.draft(ids[position + guess], state, position)
                    equal.append(int(logits.argmax()) == expected[guess][position])
        return equal

    def _chats(self, count: int, turns: int) -> list[Dialogue]:
        rng = Random(self._seed)
        questions = [(i, text) for i in self._knowledge.intents for text in i.held_out]
        picked = [rng.sample(questions, turns) for _ in range(count)]
        return [
            Dialogue("", tuple(Exchange(text, intent.answer) for intent, text in chat))
            for chat in picked
        ]


def _is_topic(intent: Intent) -> bool:
    return not intent.small_talk and intent.name != OUT_OF_SCOPE


def _share(results: Sequence[bool]) -> float:
    return sum(results) / len(results)
