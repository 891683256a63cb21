"""The Hub's API: huggingface_hub's client through the gate, with every failure explained."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from json import JSONDecodeError
from typing import TYPE_CHECKING

from app.models.hub.refusals import refusal, unreadable
from app.net import Gate, as_user_error, endpoint
from app.net.values.connections import Purpose
from engines.sentences import N_

if TYPE_CHECKING:
    from huggingface_hub import HfApi

_WRONG = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""The errors of reading an answer of another shape than expected."""


@contextmanager
def hub_api(gate: Gate, purpose: Purpose, token: str | None, repo: str = "") -> Iterator[HfApi]:
    """Give a block the Hub's API, and turn each failure of its requests into an error for the user.

    The library reads answers without checking them, so a wrong one shows itself as almost any
    error: keep everything else out of the block, except for reading its results.

    Args:
        purpose: The purpose of the requests.
        token: The token of the account; None requests without an account.
        repo: The repository that the requests are about; empty if there is none.

    Raises:
        RepositoryUnknown, GatedRepository, TokenRefused, HubBusy, HubUnreadable: The Hub refused,
            or its answer cannot be read.
        Offline, NoConnection and others: The gate or the network refused.
    """
    import httpx2
    from huggingface_hub import HfApi

    from app.net.huggingface import MOST, HubEndless, HubRefused, HubTooLong

    base = endpoint()
    try:
        with gate.for_purpose(purpose):
            yield HfApi(endpoint=base, token=token or False)
    except HubRefused as error:
        raise refusal(error.status, error.headers, base, repo, bool(token), time.time()) from error
    except HubTooLong as error:
        raise unreadable(N_("It is longer than {most} bytes.", most=f"{MOST:,}")) from error
    except HubEndless as error:
        raise unreadable(N_("It has no end.")) from error
    except httpx2.InvalidURL as error:
        raise as_user_error(error, base) from error
    except JSONDecodeError as error:
        page = error.doc.lstrip().startswith("<")
        why = N_("It is a web page and not data.") if page else N_("It is incomplete or not JSON.")
        raise unreadable(why) from None
    except _WRONG as error:
        raise unreadable(N_("Something that a Hub always sends is missing.")) from error
