"""Errors of connections in words for the user."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from app.base.errors import (
    AddressInvalid,
    AppError,
    CertificateRefused,
    ConnectionTimedOut,
    NoConnection,
    ProxyRefused,
)
from engines.sentences import N_

_TRY_AGAIN = N_("Check the connection to the internet, then try again.")


def as_user_error(error: Exception, host: str) -> AppError:
    """Turn an error of httpx2 from a request to this host into one of ours.

    Our own errors are returned unchanged; any other error is a bug and is raised again.
    """
    import httpx2

    if isinstance(error, AppError):
        return error
    if is_certificate(error):
        return _certificate(host)
    words: tuple[tuple[type[Exception], Callable[[Exception, str], AppError]], ...] = (
        (httpx2.ProxyError, _proxy),
        (httpx2.TimeoutException, _timed_out),
        (httpx2.UnsupportedProtocol, _address),
        (httpx2.InvalidURL, _address),
        (httpx2.ConnectError, _not_reached),
        (httpx2.TooManyRedirects, _redirects),
        (httpx2.RequestError, _connection_lost),
    )
    for kind, make in words:
        if isinstance(error, kind):
            return make(error, host)
    raise error


def is_certificate(error: BaseException) -> bool:
    """Return whether an error was caused by a certificate that could not be verified."""
    import ssl

    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error))


def _certificate(host: str) -> CertificateRefused:
    return CertificateRefused(
        N_("The certificate of {host} cannot be trusted.", host=host),
        N_(
            "Nobody that this system trusts has signed it, it has expired, or the clock is "
            "wrong. A "
            "company’s proxy or an antivirus program that inspects encrypted connections causes "
            "this."
        ),
        N_(
            "Check the clock. If you trust that proxy or program, install its certificate in "
            "the system’s certificate store."
        ),
    )


def _timed_out(_error: Exception, host: str) -> ConnectionTimedOut:
    return ConnectionTimedOut(
        N_("{host} took too long to answer.", host=host),
        N_("The connection is slow or broken, or that host is busy."),
        N_("Try again in a while."),
    )


def _address(error: Exception, _host: str) -> AddressInvalid:
    return AddressInvalid(
        N_("Hearth was given an address that it cannot connect to."),
        N_("{error}.", error=str(error).rstrip(".")),
        N_("Check the address that was given, and the proxy in the system’s settings."),
    )


def _redirects(_error: Exception, host: str) -> NoConnection:
    return NoConnection(
        N_("{host} does not lead anywhere.", host=host),
        N_("It sent Hearth from one address to the next without an end."),
        N_("Try again later; if you use a mirror, check HF_ENDPOINT."),
    )


def _connection_lost(_error: Exception, host: str) -> NoConnection:
    return NoConnection(
        N_("The connection to {host} broke off.", host=host),
        N_("The network or the host ended it before everything had come."),
        _TRY_AGAIN,
    )


def _not_reached(error: Exception, host: str) -> NoConnection:
    import socket

    if any(isinstance(cause, socket.gaierror) for cause in _causes(error)):
        why = N_("Its address cannot be found: there is no internet here, or the name is wrong.")
    elif any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error)):
        why = N_("Nothing answers there: the service is down, or a firewall blocks it.")
    else:
        why = N_("This network does not lead to it, or it closed the connection at once.")
    return NoConnection(N_("{host} cannot be reached.", host=host), why, _TRY_AGAIN)


def _proxy(error: Exception, host: str) -> ProxyRefused:
    import httpx2

    if str(error).startswith("407"):
        return ProxyRefused(
            N_("The proxy does not let Hearth through to {host}.", host=host),
            N_("It asks for a name and a password."),
            N_("Put them into the proxy’s address: HTTPS_PROXY=http://name:password@proxy:port."),
        )
    unreached = isinstance(error.__cause__, httpx2.ConnectError)
    return ProxyRefused(
        N_("The proxy did not connect Hearth to {host}.", host=host),
        N_("It cannot be reached itself.") if unreached else N_("It said: {error}.", error=error),
        N_("Check the proxy in the system’s network settings, or in HTTPS_PROXY and NO_PROXY."),
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, from the latest to the first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
