"""Certificates made for a test: an authority, a server's, a client's."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

import trustme


@dataclass(frozen=True)
class Certificates:
    """Files in PEM form. ca: of the authority. client: a certificate with its key."""

    ca: Path
    client: Path
    server: ssl.SSLContext


def make_certificates(folder: Path, *, asks_for_client: bool = False) -> Certificates:
    """For 127.0.0.1 and localhost. asks_for_client: who shows no certificate is refused."""
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
