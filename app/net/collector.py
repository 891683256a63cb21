"""Sends traces to a collector of OpenTelemetry, by OTLP over HTTP.

The protocol: https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.core.errors import CollectorRefused
from app.net.explained import explained

if TYPE_CHECKING:
    from app.core.network.connections import Purpose
    from app.net.gate import Gate

_PATH: Final = "/v1/traces"
_PURPOSE: Final[Purpose] = "send traces"
_WITHIN_S: Final = 10.0


def traces_address(endpoint: str) -> str:
    """Return the address that traces go to. endpoint: of the collector, with or without path."""
    address = endpoint.strip().rstrip("/")
    return address if address.endswith(_PATH) else f"{address}{_PATH}"


def send_traces(gate: Gate, endpoint: str, body: bytes) -> None:
    """Post traces to the collector at an endpoint. body: OTLP as JSON.

    Raises AppError: AddressInvalid, CollectorRefused where it does not take them, and what a
    connection may end with.
    """
    import httpx2

    address = traces_address(endpoint)
    try:
        with gate.lend(_PURPOSE, address) as client:
            response = client.post(
                address,
                content=body,
                headers={"Content-Type": "application/json"},
                extensions={"within_s": _WITHIN_S},
            )
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise explained(error, httpx2.URL(address).host) from error
    if not response.is_success:
        raise CollectorRefused(
            f"{response.url.host} did not take the traces.",
            f"It answered {response.status_code} {response.reason_phrase}.",
            "Check the address under “Send traces to” in the settings.",
        )
