"""The fields that each kind of server accepts beyond the protocol, one entry for each kind.

Sources: vLLM 0.32's protocol.py, llama.cpp's tools/server, and the documentation of LM Studio,
Ollama and SGLang.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from engines.openai.values import ServerKind


@dataclass(frozen=True)
class Habits:
    """The fields that a kind of server knows, and its limits.

    Attributes:
        hottest: Highest temperature that it accepts.
        top_k: Accepts `top_k`.
        top_k_off: Value that turns top_k off.
        min_p: Accepts `min_p`.
        repeat: Name of the field for the repeat penalty, or None.
        repeat_last_n: Name of the field for that penalty's range in tokens, or None.
        grammar: Accepts a grammar.
        template: Accepts `chat_template_kwargs`.
        continues: Continues a message that has begun, with `continue_final_message`.
        most_stops: Largest number of stop strings; None for any number.
        budget: Name of the field that limits reasoning, or None.
        thoughts: Accepts earlier reasoning in messages.
        cuts_off: Silently drops the part of a prompt that is too long.
        tool_choice: Can force the model to call a tool.
        least_top_p: Lowest top_p that it accepts.
        ignores_end: Accepts `ignore_eos`.
        ends: Accepts `min_tokens` and `stop_token_ids`.
        judges_prompt: Returns the probabilities of a prompt's tokens with `echo`.
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
"""vLLM accepts it if it was started with the model's markers of reasoning."""

TOOLS: Final = "tools"
"""Some servers accept no tools for some models; tools are then described in the prompt."""

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
