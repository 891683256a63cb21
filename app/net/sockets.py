"""A client over a Unix socket: it reaches one program on this computer and nothing else."""

from __future__ import annotations

from pathlib import Path

import httpx2

from app.net.client import plain_client


def socket_client(path: Path) -> httpx2.Client:
    """For requests to http://localhost/…, whatever the network; whoever asked closes it.

    No proxy is asked and nothing is written into the ledger: nothing leaves this computer. Each
    request has a connection of its own, so that it can be hung up.
    """
    own = httpx2.Limits(max_keepalive_connections=0)
    return plain_client(
        httpx2.HTTPTransport(uds=str(path), limits=own, trust_env=False), follow_redirects=False
    )
