"""Certificates made for a test: an authority, a server and a client."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True)
class Certificates:
    """Certificates in PEM files, and the server's context.

    Attributes:
        ca: The certificate of the authority.
        client: The client's certificate with its key.
        server: The context of a server with a certificate of this authority.
    """

    ca: Path
    client: Path
    server: ssl.SSLContext


def make_certificates(folder: Path, *, asks_for_client: bool = False) -> Certificates:
    """Make certificates for 127.0.0.1 and localhost.

    Args:
        folder: The folder for the files.
        asks_for_client: True to refuse clients without a certificate.
    """
    authority = trustme.CA()
    ca, client = folder / "authority.pem", folder / "client.pem"
    authority.cert_pem.write_to_path(str(ca))
    issued = authority.issue_cert("someone@hearth.invalid")
    issued.private_key_and_cert_chain_pem.write_to_path(str(client))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    if asks_for_client:
        authority.configure_trust(context)
        context.verify_mode = ssl.CERT_REQUIRED
    return Certificates(ca, client, context)
