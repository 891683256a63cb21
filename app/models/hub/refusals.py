"""Errors for the user, made from the Hub's refusals: pure."""

from __future__ import annotations

from collections.abc import Mapping

from app.base.errors import (
    AppError,
    GatedRepository,
    HubBusy,
    HubUnreadable,
    RepositoryUnknown,
    TokenRefused,
)
from app.models.hub.retry import asked_s, is_transient

_DISABLED = "Access to this resource is disabled."
"""The Hub's X-Error-Message for a disabled repository; there is no error code for it."""


def refusal(
    status: int, headers: Mapping[str, str], base: str, repo: str, with_token: bool, now: float
) -> AppError:
    """Return the error for a status that is not a success.

    The Hub's X-Error-Code says more than the status does: without an account, the Hub answers 401
    even for repositories that do not exist.

    Args:
        base: The Hub's address.
        repo: The repository that the request was about; "" if there was none.
        with_token: Whether the request carried a token.
        now: The current time, in seconds since 1970.
    """
    code = headers.get("X-Error-Code", "")
    if status in (401, 403) and code == "GatedRepo":
        return _gated(base, repo, with_token)
    if repo and status == 403 and headers.get("X-Error-Message") == _DISABLED:
        return _disabled(repo)
    if status in (401, 403) and not code and with_token:
        return _token(status, base)
    if status in (401, 404) and repo:
        return _revision(repo) if code == "RevisionNotFound" else _unknown(repo)
    if is_transient(status):
        return _busy(status, headers, now)
    return unreadable(f"It answered with the unexpected status {status}.")


def unreadable(why: str) -> HubUnreadable:
    """Make the error for an answer that cannot be read.

    Args:
        why: One sentence.
    """
    return HubUnreadable(
        "The Hub's answer cannot be read.",
        why,
        "Open any web page in a browser: some networks want you to sign in first. If HF_ENDPOINT "
        "is set, check that it is the address of a Hub.",
    )


def _gated(base: str, repo: str, with_token: bool) -> GatedRepository:
    page = f"{base}/{repo}"
    if with_token:
        return GatedRepository(
            f"Your account may not use “{repo}” yet.",
            "Its owner gives it to people who have accepted its licence, at times one by one.",
            f"Open {page}, accept the licence with the account of your token, and try again.",
            page,
        )
    return GatedRepository(
        f"“{repo}” requires an account.",
        "Its owner gives it to people who have accepted its licence.",
        f"Open {page}, accept the licence, and give Hearth your token.",
        page,
        terminal=f"Open {page}, accept the licence, and give Hearth your token: "
        "`hearth token set hf`.",
    )


def _token(status: int, base: str) -> TokenRefused:
    page = f"{base}/settings/tokens"
    if status == 403:
        return TokenRefused(
            "The Hub refused your token.",
            "It may not read this: tokens can be limited to some repositories.",
            f"Give the token the right to read at {page}.",
        )
    return TokenRefused(
        "The Hub refused your token.",
        "It has expired, was revoked or was not copied completely.",
        f"Make a new one at {page} and enter it in Hearth, or remove the old one.",
        terminal=f"Make a new one at {page} and give it to Hearth with `hearth token set hf`; or "
        "forget it with `hearth token clear hf`.",
    )


def _unknown(repo: str) -> RepositoryUnknown:
    return RepositoryUnknown(
        f"There is no model “{repo}” on the Hub.",
        "No repository has that name, or only some accounts may see it.",
        "Check the name, or search for the model.",
        terminal="Check the name; `hearth models search WORDS` finds models.",
    )


def _disabled(repo: str) -> RepositoryUnknown:
    return RepositoryUnknown(
        f"“{repo}” was disabled on the Hub.",
        "The Hub no longer offers it, usually because of its content or licence.",
        "Choose another model.",
        terminal="Choose another model; `hearth models search WORDS` finds models.",
    )


def _revision(repo: str) -> RepositoryUnknown:
    return RepositoryUnknown(
        f"“{repo}” has no such revision.",
        "The Hub knows the repository, and no branch, tag or commit of that name.",
        "Leave the revision out to take the newest.",
    )


def _busy(status: int, headers: Mapping[str, str], now: float) -> HubBusy:
    if status != 429:
        return HubBusy(
            "The Hub has a problem.",
            f"It answered with an error of its own ({status}).",
            "Try again in a few minutes.",
        )
    seconds = asked_s(headers, now)
    return HubBusy(
        "The Hub accepts no more requests for now.",
        "It got too many requests from this address or account.",
        f"Try again {_in_words(seconds)}.",
        seconds,
    )


def _in_words(seconds: float | None) -> str:
    if seconds is None:
        return "in a few minutes"
    if seconds < 90:
        return f"in {max(round(seconds), 1)} seconds"
    if seconds < 90 * 60:
        return f"in {round(seconds / 60)} minutes"
    if seconds < 36 * 3600:
        return f"in {round(seconds / 3600)} hours"
    return "on another day"
