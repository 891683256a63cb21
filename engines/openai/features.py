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
class ServerFeatures:
    """The fields that a kind of server knows, and its limits.

    Attributes:
        max_temperature: Highest temperature that it accepts.
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
        truncates_silently: Silently drops the part of a prompt that is too long.
        tool_choice: Can force the model to call a tool.
        min_top_p: Lowest top_p that it accepts.
        ignores_end: Accepts `ignore_eos`.
        ends_by_tokens: Accepts `min_tokens` and `stop_token_ids`.
        judges_prompt: Returns the probabilities of a prompt's tokens with `echo`.
    """

    max_temperature: float = 2.0
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
    truncates_silently: bool = False
    tool_choice: bool = True
    min_top_p: float = 0.0
    ignores_end: bool = False
    ends_by_tokens: bool = False
    judges_prompt: bool = False


BUDGET: Final = "thinking_token_budget"
"""vLLM accepts it if it was started with the model's markers of reasoning."""

TOOLS: Final = "tools"
"""Some servers accept no tools for some models; tools are then described in the prompt."""

FEATURES: Final[dict[ServerKind, ServerFeatures]] = {
    "vllm": ServerFeatures(
        top_k=True,
        top_k_off=-1,
        min_p=True,
        repeat="repetition_penalty",
        grammar=True,
        template=True,
        continues=True,
        budget=BUDGET,
        thoughts=True,
        min_top_p=1e-6,
        ignores_end=True,
        ends_by_tokens=True,
        judges_prompt=True,
    ),
    "llama-server": ServerFeatures(
        max_temperature=math.inf,
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
    "sglang": ServerFeatures(
        top_k=True,
        top_k_off=-1,
        min_p=True,
        repeat="repetition_penalty",
        template=True,
        continues=True,
        thoughts=True,
        min_top_p=1e-6,
        ignores_end=True,
        ends_by_tokens=True,
    ),
    "lmstudio": ServerFeatures(top_k=True, repeat="repeat_penalty"),
    "ollama": ServerFeatures(truncates_silently=True, tool_choice=False),
    "openai": ServerFeatures(most_stops=4),
}
