"""The fields that each kind of server takes beyond the protocol: one entry each.

Sources: vLLM 0.32's protocol.py, llama.cpp's tools/server and what their makers document of LM
Studio, Ollama and SGLang.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from engines.openai.values import ServerKind


@dataclass(frozen=True)
class Habits:
    """The names of the fields that a kind of server knows; None for what it does not.

    hottest: the highest temperature that it takes.
    top_k_off: what switches top_k off. template: takes chat_template_kwargs.
    continues: goes on with a begun message by `continue_final_message`.
    most_stops: stop strings that it takes; None for any number.
    budget: takes a limit for the reasoning. thoughts: knows earlier reasoning in messages.
    cuts_off: leaves out what is too long, without a word. tool_choice: a model can be made to ask
    for a tool. least_top_p: the lowest top_p that it takes. ignores_end: takes `ignore_eos`.
    ends: takes `min_tokens` and `stop_token_ids`. judges_prompt: tells the probabilities of a
    prompt's tokens with `echo`.
    """

    hottest: float = 2.0
    top_k: bool = False
    top_k_off: int = 0
    min_p: bool = False
    repeat: str | None = None
    repeat_last_n: str | None = None
    grammar: bool = False
    template: bool = False
    continues: bool = False
    most_stops: int | None = None
    budget: str | None = None
    thoughts: bool = False
    cuts_off: bool = False
    tool_choice: bool = True
    least_top_p: float = 0.0
    ignores_end: bool = False
    ends: bool = False
    judges_prompt: bool = False


BUDGET: Final = "thinking_token_budget"
"""vLLM takes it where its start was told what reasoning stands between."""

TOOLS: Final = "tools"
"""Some servers take none for some models; words tell of them then."""

HABITS: Final[dict[ServerKind, Habits]] = {
    "vllm": Habits(
        top_k=True,
        top_k_off=-1,
        min_p=True,
        repeat="repetition_penalty",
        grammar=True,
        template=True,
        continues=True,
        budget=BUDGET,
        thoughts=True,
        least_top_p=1e-6,
        ignores_end=True,
        ends=True,
        judges_prompt=True,
    ),
    "llama-server": Habits(
        hottest=math.inf,
        top_k=True,
        min_p=True,
        repeat="repeat_penalty",
        repeat_last_n="repeat_last_n",
        grammar=True,
        template=True,
        continues=True,
        budget="reasoning_budget_tokens",
        thoughts=True,
        ignores_end=True,
    ),
    "sglang": Habits(
        top_k=True,
        top_k_off=-1,
        min_p=True,
        repeat="repetition_penalty",
        template=True,
        continues=True,
        thoughts=True,
        least_top_p=1e-6,
        ignores_end=True,
        ends=True,
    ),
    "lmstudio": Habits(top_k=True, repeat="repeat_penalty"),
    "ollama": Habits(cuts_off=True, tool_choice=False),
    "openai": Habits(most_stops=4),
}
