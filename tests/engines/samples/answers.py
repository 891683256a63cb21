"""Answers in the forms of the model families, and the reasoning in them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

HARMONY_TOKENS: Final = ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
TURNS: Final = ("<|im_start|>", "<|im_end|>")
MISTRAL: Final = ("[THINK]", "[/THINK]", "[INST]", "[/INST]", "[SYSTEM_PROMPT]")
THINK: Final = ("<think>", "</think>")


@dataclass(frozen=True)
class Sample:
    """A model's answer to a prompt of its template.

    Attributes:
        template: The name of the template's file.
        text: The text of the answer.
        reasoning: The reasoning in it.
        answer: The rest of it.
        thinking: The requested setting.
        control: Control tokens of its vocabulary.
        added: Added tokens of its vocabulary.
    """

    template: str
    text: str
    reasoning: str
    answer: str
    thinking: bool | None = None
    control: tuple[str, ...] = ()
    added: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.template}: {self.text[:24]!r}"


def source(name: str) -> str:
    return (Path(__file__).parent / f"{name}.jinja").read_text(encoding="utf-8")


SAMPLES: Final = (
    Sample(
        "gemma4",
        "<|channel>thought\nTwo and two.\nThat is easy.\n<channel|>It is 4.",
        "Two and two.\nThat is easy.\n",
        "It is 4.",
        thinking=True,
        control=("<|turn>", "<turn|>"),
        added=("<|channel>", "<channel|>"),
    ),
    Sample("gemma4", "It is 4.", "", "It is 4.", thinking=False),
    Sample("gemma4", "<|channel>thought\n<channel|>It is 4.", "", "It is 4.", thinking=False),
    Sample(
        "qwen3",
        "<think>\nOkay, the user asks for a sum.\n\nIt is 4.\n</think>\n\n**4**, of course.",
        "Okay, the user asks for a sum.\n\nIt is 4.\n",
        "**4**, of course.",
        control=TURNS,
        added=THINK,
    ),
    Sample("qwen3", "4, of course.", "", "4, of course.", thinking=False),
    Sample("qwen3", "Okay, a sum.\n</think>\n\n4", "Okay, a sum.\n", "4", thinking=True),
    Sample(
        "qwen3_thinking",
        "Okay, a sum. Text may hold <think> in it.\n</think>\n\nIt is 4.",
        "Okay, a sum. Text may hold <think> in it.\n",
        "It is 4.",
    ),
    Sample("qwen3_instruct", "It ends with </think>, so.", "", "It ends with </think>, so."),
    Sample(
        "gpt_oss",
        "<|channel|>analysis<|message|>A sum. We answer 4.<|end|>"
        "<|start|>assistant<|channel|>final<|message|>It is **4**.",
        "A sum. We answer 4.",
        "It is **4**.",
        control=HARMONY_TOKENS,
    ),
    Sample(
        "gpt_oss",
        "<|channel|>analysis<|message|>A sum.<|end|><|start|>assistant<|channel|>commentary"
        "<|message|>I shall count. <|end|><|start|>assistant<|channel|>final <|constrain|>json"
        '<|message|>{"sum": 4}',
        "A sum.I shall count. ",
        '{"sum": 4}',
    ),
    Sample("gpt_oss", "<|channel|>final<|message|>4", "", "4"),
    Sample("gpt_oss", "It is 4.", "", "It is 4."),
    Sample("deepseek_r1", "Hm, a sum.\n</think>\n\nIt is 4.", "Hm, a sum.\n", "It is 4."),
    Sample(
        "deepseek_r1_first",
        "<think>\nHm, a sum.\n</think>\n\nIt is 4.",
        "Hm, a sum.\n",
        "It is 4.",
        added=THINK,
    ),
    Sample("deepseek_r1_first", "Hm, a sum.\n\n</think>\n\nIt is 4.", "Hm, a sum.\n\n", "It is 4."),
    Sample(
        "deepseek_r1_first",
        "A reasoning ends with </think>, as in\n</think>\nand so on.",
        "",
        "A reasoning ends with </think>, as in\n</think>\nand so on.",
    ),
    Sample("deepseek_v31", "A sum: 4.</think>It is 4.", "A sum: 4.", "It is 4.", thinking=True),
    Sample("deepseek_v31", "It is 4.", "", "It is 4.", thinking=False),
    Sample("magistral", "<think>\nA sum.\n</think>\nIt is 4.", "A sum.\n", "It is 4."),
    Sample(
        "ministral",
        "[THINK]A sum. 2 + 2 is 4.[/THINK]It is 4.",
        "A sum. 2 + 2 is 4.",
        "It is 4.",
        control=MISTRAL,
    ),
    Sample("ministral", "A list: [1, 2], then [THINK].", "", "A list: [1, 2], then [THINK]."),
    Sample("mistral_effort", "[THINK]A sum.[/THINK]4", "A sum.", "4", thinking=True),
    Sample(
        "granite",
        "<think>A sum, that is easy.</think>\n<response>It is 4, and not </response>.\n</response>",
        "A sum, that is easy.",
        "It is 4, and not </response>.\n",
        thinking=True,
        added=THINK,
    ),
    Sample("granite", "<think>A sum.</think> It is 4.", "A sum.", " It is 4.", thinking=True),
    Sample("granite", "<response>It is 4.</response>\n", "", "It is 4.", thinking=False),
    Sample(
        "granite32",
        "Here is my thought process:\nA sum.\n\nHere is my response:\n\nIt is 4.",
        "A sum.\n\n",
        "It is 4.",
        thinking=True,
    ),
    Sample(
        "granite32",
        "Here's my thought process: a sum. Here's my response: 4",
        " a sum. ",
        " 4",
        thinking=True,
    ),
    Sample(
        "glm",
        "\n<think>The user wants a sum.</think>\nIt is 4.",
        "The user wants a sum.",
        "It is 4.",
        control=("<|user|>", "<|assistant|>", "[gMASK]", "<sop>"),
        added=THINK,
    ),
    Sample("glm", "\nIt is 4.", "", "\nIt is 4.", thinking=False),
    Sample("smollm3", "<think>\nA sum.\n</think>\nIt is 4.", "A sum.\n", "It is 4."),
    Sample("smollm3", "It is 4.", "", "It is 4.", thinking=False),
    Sample("nemotron", "A sum.\n</think>\n\nIt is 4.", "A sum.\n", "It is 4."),
    Sample("nemotron", "It is 4.", "", "It is 4.", thinking=False),
)
