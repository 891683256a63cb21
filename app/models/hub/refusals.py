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
from app.models.hub.retry import is_transient, requested_wait_s
from engines.sentences import N_

_DISABLED = N_("Access to this resource is disabled.")
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
    return unreadable(N_("It answered with the unexpected status {status}.", status=status))


def unreadable(why: str) -> HubUnreadable:
    """Make the error for an answer that cannot be read.

    Args:
        why: One sentence.
    """
    return HubUnreadable(
        N_("The Hub's answer cannot be read."),
        why,
        N_(
            "Open any web page in a browser: some networks want you to sign in first. If "
            "HF_ENDPOINT "
            "is set, check that it is the address of a Hub."
        ),
    )


def _gated(base: str, repo: str, with_token: bool) -> GatedRepository:
    page = f"{base}/{repo}"
    if with_token:
        return GatedRepository(
            N_("Your account may not use “{repo}” yet.", repo=repo),
            N_(
                "Its owner gives access to people who have accepted its licence, sometimes "
                "to each of them individually."
            ),
            N_(
                "Open {page}, accept the licence with the account of your token, and try again.",
                page=page,
            ),
            page,
        )
    return GatedRepository(
        N_("“{repo}” requires an account.", repo=repo),
        N_("Its owner gives access to people who have accepted its licence."),
        N_("Open {page}, accept the licence, and give Hearth your token.", page=page),
        page,
        terminal=N_(
            "Open {page}, accept the licence, and give Hearth your token: `hearth token set hf`.",
            page=page,
        ),
    )


def _token(status: int, base: str) -> TokenRefused:
    page = f"{base}/settings/tokens"
    if status == 403:
        return TokenRefused(
            N_("The Hub refused your token."),
            N_("It does not give access to this: tokens can be limited to some repositories."),
            N_("Give the token read access at {page}.", page=page),
        )
    return TokenRefused(
        N_("The Hub refused your token."),
        N_("It has expired, was revoked or was not copied completely."),
        N_("Make a new one at {page} and enter it in Hearth, or remove the old one.", page=page),
        terminal=N_(
            "Make a new one at {page} and give it to Hearth with `hearth token set hf`; or "
            "forget it with `hearth token clear hf`.",
            page=page,
        ),
    )


def _unknown(repo: str) -> RepositoryUnknown:
    return RepositoryUnknown(
        N_("There is no model “{repo}” on the Hub.", repo=repo),
        N_("No repository has that name, or only some accounts may see it."),
        N_("Check the name, or search for the model."),
        terminal=N_("Check the name; `hearth models search WORDS` finds models."),
    )


def _disabled(repo: str) -> RepositoryUnknown:
    return RepositoryUnknown(
        N_("“{repo}” was disabled on the Hub.", repo=repo),
        N_("The Hub no longer offers it, usually because of its content or licence."),
        N_("Choose another model."),
        terminal=N_("Choose another model; `hearth models search WORDS` finds models."),
    )


def _revision(repo: str) -> RepositoryUnknown:
    return RepositoryUnknown(
        N_("“{repo}” has no such revision.", repo=repo),
        N_("The Hub knows the repository, and no branch, tag or commit of that name."),
        N_("Leave the revision out to use the newest."),
    )


def _busy(status: int, headers: Mapping[str, str], now: float) -> HubBusy:
    if status != 429:
        return HubBusy(
            N_("The Hub has a problem."),
            N_("It answered with an error of its own ({status}).", status=status),
            N_("Try again in a few minutes."),
        )
    seconds = requested_wait_s(headers, now)
    return HubBusy(
        N_("The Hub accepts no more requests for now."),
        N_("It got too many requests from this address or account."),
        N_("Try again {in_words}.", in_words=_in_words(seconds)),
        seconds,
    )


def _in_words(seconds: float | None) -> str:
    if seconds is None:
        return N_("in a few minutes")
    if seconds < 90:
        return N_("in {seconds} seconds", seconds=max(round(seconds), 1))
    if seconds < 90 * 60:
        return N_("in {seconds} minutes", seconds=round(seconds / 60))
    if seconds < 36 * 3600:
        return N_("in {seconds} hours", seconds=round(seconds / 3600))
    return N_("on another day")
