"""`hearth assistants`: lists, shows and removes the assistants that were made in the window."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from app.assistants.values.assistants import Assistant
from app.base.errors import AssistantUnknown
from app.kit.terminal.command import Argument, Command
from app.kit.terminal.output import Output, labelled, table
from app.settings.values.fields import fields
from app.settings.values.resolved import NO_LAYERS, SettingLayers
from engines.sentences import N_

if TYPE_CHECKING:
    from app.wiring.app import App


def _list(app: App, _: argparse.Namespace, out: Output) -> int:
    found = app.assistants.assistants()
    out.value(
        [asdict(it) for it in found],
        lambda: (
            table([(it.id[:8], it.name, it.model or "") for it in found])
            or N_("No assistants yet; they are made in the window.")
        ),
    )
    return 0


def _show(app: App, args: argparse.Namespace, out: Output) -> int:
    assistant = find_assistant(app, args.what)
    out.value(asdict(assistant), lambda: _described(assistant))
    return 0


def _remove(app: App, args: argparse.Namespace, out: Output) -> int:
    assistant = find_assistant(app, args.what)
    app.assistants.remove(assistant.id)
    out.value({"removed": assistant.id}, lambda: N_("Removed “{name}”.", name=assistant.name))
    return 0


def find_assistant(app: App, called: str) -> Assistant:
    """Find an assistant by its name or the beginning of its id. Raises AssistantUnknown."""
    known = app.assistants.assistants()
    found = [it for it in known if it.name.casefold() == called.casefold()]
    found = found or [it for it in known if called and it.id.startswith(called)]
    if len(found) != 1:
        raise AssistantUnknown(
            N_("There is no assistant “{called}”.", called=called),
            N_("Several are called like that.") if found else N_("None has that name or id."),
            N_("`hearth assistants list` shows all of them with their ids."),
        )
    return found[0]


def layers_of(app: App, called: str | None) -> SettingLayers:
    """Return an assistant's settings for an answer outside a chat. Raises AssistantUnknown."""
    if called is None:
        return NO_LAYERS
    return SettingLayers(assistant=find_assistant(app, called).allowed_values, chat={}, message={})


def _described(assistant: Assistant) -> str:
    rows = [(N_("Name"), assistant.name), (N_("Id"), assistant.id)]
    rows += [(N_("Model"), assistant.model)] if assistant.model else []
    rows += [(N_("Greeting"), assistant.greeting)] if assistant.greeting else []
    rows += [
        (fields()[it].title if it in fields() else it, str(value))
        for it, value in assistant.settings.items()
    ]
    text = labelled(rows)
    return f"{text}\n\n{assistant.system_prompt}" if assistant.system_prompt else text


_NAME = Argument(
    "what",
    N_("the assistant's name, or the beginning of its id"),
    metavar="NAME",
    offers="assistants",
)

COMMAND = Command(
    "assistants",
    "list, show and remove the assistants that were made in the window",
    verbs=(
        Command("list", "list all assistants", _list),
        Command("show", "show an assistant", _show, (_NAME,)),
        Command(
            "rm",
            "remove an assistant and keep its chats",
            _remove,
            (_NAME,),
            aliases=("remove",),
        ),
    ),
)
