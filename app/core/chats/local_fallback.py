"""Which model answers in a chat for which nobody has chosen one: pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.core.models.entry import STARTER, ModelEntry


def staying(called: str, entries: Sequence[ModelEntry], leaves: Callable[[str], bool]) -> str:
    """The usual model, as long as the text stays on this computer with it.

    Else it is the one of this computer that answered last, or the guide: text leaves a chat only
    where somebody has chosen that for it. called: the usual model, by its id or name. leaves:
    whether text for a server, by its profile's id, leaves this computer. A model that is not among
    the entries answers nothing, so that is left as it is.
    """
    usual = next((it for it in entries if called in (it.id, it.name)), None)
    if usual is None or usual.engine != "remote" or not leaves(usual.server):
        return called
    here = [it for it in entries if it.engine != "remote" and not it.drafts and it.last_used]
    last = max(here, key=lambda it: it.last_used or 0.0, default=None)
    return last.id if last is not None else STARTER
