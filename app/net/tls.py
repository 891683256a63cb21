"""The certificates that are trusted and shown: the system's, and those of a server's profile."""

from __future__ import annotations

import ssl
from pathlib import Path

import httpx2

from app.base.errors import CertificateRefused
from app.net.values.connections import Trust
from engines.sentences import N_


def tls_context(trust: Trust | None = None) -> ssl.SSLContext:
    """Make a TLS context with the system's certificates and those that a profile adds.

    truststore finds the system's store on Windows and macOS; SSL_CERT_FILE can name another one.
    Raises CertificateRefused for a file that cannot be used.
    """
    try:
        context = httpx2.create_ssl_context()
    except OSError as error:
        raise CertificateRefused(
            N_("The certificates of this system cannot be read."),
            N_("The system says: {strerror}.", strerror=error),
            N_("Check SSL_CERT_FILE and SSL_CERT_DIR in the environment, or remove them."),
        ) from error
    if trust is None:
        return context
    if trust.ca is not None:
        try:
            context.load_verify_locations(cafile=str(trust.ca))
        except (OSError, ValueError) as error:
            raise _unusable(trust.ca, N_("the certificate of an authority"), error) from error
    if trust.certificate is not None:
        try:
            # Without this password, OpenSSL would ask for one in the terminal.
            context.load_cert_chain(str(trust.certificate), password=lambda: "")
        except (OSError, ValueError) as error:
            raise _unusable(
                trust.certificate, N_("a certificate with its unlocked key"), error
            ) from error
    return context


def _unusable(path: Path, expected: str, error: Exception) -> CertificateRefused:
    if isinstance(error, FileNotFoundError):
        why = N_("There is no such file.")
    elif isinstance(error, ssl.SSLError | ValueError):
        why = N_("It does not contain {what} in PEM format.", what=expected)
    else:
        why = N_("The system says: {strerror}.", strerror=error)
    return CertificateRefused(
        N_("The certificate file {name} cannot be used.", name=path.name),
        why,
        N_("Choose another file in the server’s profile; this one is {path}.", path=path),
    )
