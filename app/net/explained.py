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

_TRY_AGAIN = "Check the connection to the internet, then try again."


def explained(error: Exception, host: str) -> AppError:
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
        (httpx2.TimeoutException, _late),
        (httpx2.UnsupportedProtocol, _address),
        (httpx2.InvalidURL, _address),
        (httpx2.ConnectError, _unreached),
        (httpx2.TooManyRedirects, _circle),
        (httpx2.RequestError, _broken_off),
    )
    for kind, put in words:
        if isinstance(error, kind):
            return put(error, host)
    raise error


def is_certificate(error: BaseException) -> bool:
    """Return whether an error was caused by a certificate that could not be verified."""
    import ssl

    return any(isinstance(cause, ssl.SSLCertVerificationError) for cause in _causes(error))


def _certificate(host: str) -> CertificateRefused:
    return CertificateRefused(
        f"The certificate of {host} cannot be trusted.",
        "Nobody that this system trusts has signed it, it has expired, or the clock is wrong. A "
        "company’s proxy or an antivirus program that inspects encrypted connections causes this.",
        "Check the clock. If you trust that proxy or program, install its certificate in "
        "the system’s certificate store.",
    )


def _late(_error: Exception, host: str) -> ConnectionTimedOut:
    return ConnectionTimedOut(
        f"{host} took too long to answer.",
        "The connection is slow or broken, or that host is busy.",
        "Try again in a while.",
    )


def _address(error: Exception, _host: str) -> AddressInvalid:
    return AddressInvalid(
        "Hearth was given an address that it cannot connect to.",
        f"{str(error).rstrip('.')}.",
        "Check the address that was given, and the proxy in the system’s settings.",
    )


def _circle(_error: Exception, host: str) -> NoConnection:
    return NoConnection(
        f"{host} does not lead anywhere.",
        "It sent Hearth from one address to the next without an end.",
        "Try again later; if you use a mirror, check HF_ENDPOINT.",
    )


def _broken_off(_error: Exception, host: str) -> NoConnection:
    return NoConnection(
        f"The connection to {host} broke off.",
        "The network or the host ended it before everything had come.",
        _TRY_AGAIN,
    )


def _unreached(error: Exception, host: str) -> NoConnection:
    import socket

    if any(isinstance(cause, socket.gaierror) for cause in _causes(error)):
        why = "Its address cannot be found: there is no internet here, or the name is wrong."
    elif any(isinstance(cause, ConnectionRefusedError) for cause in _causes(error)):
        why = "Nothing answers there: the service is down, or a firewall blocks it."
    else:
        why = "This network does not lead to it, or it closed the connection at once."
    return NoConnection(f"{host} cannot be reached.", why, _TRY_AGAIN)


def _proxy(error: Exception, host: str) -> ProxyRefused:
    import httpx2

    if str(error).startswith("407"):
        return ProxyRefused(
            f"The proxy does not let Hearth through to {host}.",
            "It asks for a name and a password.",
            "Put them into the proxy’s address: HTTPS_PROXY=http://name:password@proxy:port.",
        )
    unreached = isinstance(error.__cause__, httpx2.ConnectError)
    return ProxyRefused(
        f"The proxy did not connect Hearth to {host}.",
        "It cannot be reached itself." if unreached else f"It said: {error}.",
        "Check the proxy in the system’s network settings, or in HTTPS_PROXY and NO_PROXY.",
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes, from the latest to the first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
