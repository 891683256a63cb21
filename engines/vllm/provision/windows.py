"""The preconditions for vLLM on Windows, checked before its Linux is examined. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from engines.sentences import N_


@dataclass(frozen=True)
class Wsl2:
    """The state of WSL2 on Windows.

    Attributes:
        state: "absent": WSL2 is not installed. "silent": it does not answer. "empty": it has no
            distribution. "old": it has only distributions on WSL1. "broken": the distribution does
            not start. "apart": the distribution does not see Hearth's folder. "ready".
        name: Name of the distribution.
        message: Message of a distribution that does not start.
    """

    state: Literal["absent", "silent", "empty", "old", "broken", "apart", "ready"]
    name: str = ""
    message: str = ""


class Trouble(NamedTuple):
    """A problem: what is in the way, why, and what to do."""

    what: str
    why: str
    do: str


def wsl_trouble(wsl: Wsl2) -> Trouble:
    """Describe the problem for any state except “ready”."""
    name = wsl.name
    match wsl.state:
        case "absent":
            return Trouble(
                N_("vLLM runs on Windows inside WSL2 only, which is not installed."),
                N_("Its makers build it for Linux; WSL2 is Microsoft's Linux in Windows."),
                N_(
                    "Open PowerShell as administrator, run “wsl --install”, and restart the "
                    "computer. Only an administrator can do that."
                ),
            )
        case "silent":
            return Trouble(
                N_("WSL2 does not answer."),
                N_("Hearth asked it which Linux it has, and got no answer."),
                N_(
                    "Run “wsl --shutdown”, or restart the computer. If WSL2 was never set up "
                    "here, run “wsl --install” as administrator first."
                ),
            )
        case "empty":
            return Trouble(
                N_("There is no Linux in this Windows yet."),
                N_("WSL2 has no Linux that Hearth can use; Docker's and Podman's do not count."),
                N_(
                    "Run “wsl --install -d Ubuntu-24.04”, choose a name and a password when "
                    "it asks for them, then check again."
                ),
            )
        case "old":
            return Trouble(
                N_("{name} runs on WSL1, where vLLM cannot run.", name=name),
                N_("WSL1 only imitates a Linux, and has no way to the graphics card."),
                N_(
                    "Run “wsl --set-version {name} 2”, which takes a few minutes. If Windows "
                    "refuses, "
                    "run “wsl --install” as administrator first and restart the computer.",
                    name=name,
                ),
            )
        case "broken":
            return Trouble(
                N_("{name} does not start.", name=name),
                N_("Windows says: {message}", message=wsl.message or "nothing"),
                N_(
                    "Run “wsl -d {name}” in PowerShell to see more. “wsl --update” as "
                    "administrator and "
                    "a restart of the computer usually help.",
                    name=name,
                ),
            )
        case _:
            return Trouble(
                N_("{name} does not see the folder of Hearth.", name=name),
                N_("Windows' drives are not mounted there, or the folder is on another computer."),
                N_(
                    "Turn “automount” on in its /etc/wsl.conf and run “wsl --shutdown”, or move "
                    "the "
                    "data folder to a drive of this computer (HEARTH_DATA_DIR)."
                ),
            )
