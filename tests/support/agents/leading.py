"""An engine that leads an agent through a task, one command a turn."""

from __future__ import annotations

import json
import threading
from collections.abc import Generator
from typing import Final

from engines.cancel import CancelToken
from engines.types import ChatRequest, Event, ReasoningDelta, Tool, ToolCall
from tests.support.scripted import ScriptedEngine

SHELLS: Final = {"Bash": "command", "exec_command": "cmd", "shell_command": "command",
                 "bash": "command"}  # fmt: skip
"""The tools with which agents run a command, and the name of their argument for it."""
FILE: Final = "steps.txt"
TASK: Final = f"Write the steps into {FILE}, one after the other."


class LeadingEngine(ScriptedEngine):
    """An engine that asks for a number of commands.

    Requests without a shell are answered with a single word.

    Args:
        turns: The number of commands.
    """

    def __init__(self, turns: int) -> None:
        super().__init__()
        self.turns = turns
        self._turn = threading.Lock()

    def chat(self, request: ChatRequest, cancel: CancelToken) -> Generator[Event, None, None]:
        with self._turn:
            shell = shell_of(request)
            done = sum(message.role == "tool" for message in request.messages)
            if shell is None or done >= self.turns:
                self.pieces = ("All steps are written.",)
            else:
                call = ToolCall(shell.name, arguments(shell, done), f"call_{done}")
                self.pieces = (ReasoningDelta(f"Step {done} comes next."), f"Step {done}.", call)
            yield from super().chat(request, cancel)


def shell_of(request: ChatRequest) -> Tool | None:
    """Return the tool that runs commands, if the request has one."""
    return next((tool for tool in request.tools if tool.name in SHELLS), None)


def arguments(shell: Tool, step: int) -> str:
    """Return the arguments of a command, with everything that the tool's schema requires."""
    said = {SHELLS[shell.name]: f"echo step {step} >> {FILE}; cat {FILE}"}
    for name in shell.parameters.get("required", ()):
        said.setdefault(name, f"Write step {step}")
    return json.dumps(said)
