"""The choice of the model that answers in a chat for which nobody has chosen one: pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from app.models.library.values.entry import STARTER, ModelEntry


def local_fallback(usual: str, entries: Sequence[ModelEntry], leaves: Callable[[str], bool]) -> str:
    """Choose what answers in place of the usual model where nobody has chosen one.

    The usual model itself, as long as the text stays on this computer with it. Else the one of
    this computer that answered last, or the guide: text leaves a chat only where somebody has
    chosen that for it. usual: an id or a name. leaves: whether text for a server, by its profile's
    id, leaves this computer. A model that is not among the entries answers nothing, so that is
    left as it is.
    """
    found = next((it for it in entries if usual in (it.id, it.name)), None)
    if found is None or not found.on_server or not leaves(found.server):
        return usual
    here = [it for it in entries if not (it.on_server or it.drafts) and it.last_used]
    last = max(here, key=lambda it: it.last_used or 0.0, default=None)
    return last.id if last is not None else STARTER
