"""The sending of traces to an OpenTelemetry collector, and reading a running Hearth's metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from app.base.errors import AddressInvalid, CollectorRefused, MetricsRefused, NoConnection
from app.net.endpoint import is_http
from app.net.user_errors import as_user_error
from engines.sentences import N_

if TYPE_CHECKING:
    from app.base.secret import Secret
    from app.net.gate import Gate
    from app.net.values.connections import Purpose

_PATH: Final = "/v1/traces"
_PURPOSE: Final[Purpose] = "send traces"
_WITHIN_S: Final = 10.0


def traces_address(endpoint: str) -> str:
    """Return the address that traces are sent to.

    Args:
        endpoint: Address of the collector, with or without its path.
    """
    address = endpoint.strip().rstrip("/")
    return address if address.endswith(_PATH) else f"{address}{_PATH}"


def send_traces(gate: Gate, endpoint: str, body: bytes) -> None:
    """Post traces to a collector, by OTLP over HTTP.

    The protocol: https://opentelemetry.io/docs/specs/otlp/#otlphttp

    Args:
        endpoint: Address of the collector, with or without its path.
        body: OTLP as JSON.

    Raises:
        AddressInvalid: The address is not valid.
        CollectorRefused: The collector refuses the traces.
        AppError: The connection failed.
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
        raise as_user_error(error, httpx2.URL(address).host) from error
    if not response.is_success:
        raise CollectorRefused(
            N_("{host} did not accept the traces.", host=response.url.host),
            N_(
                "It answered {status_code} {reason_phrase}.",
                status_code=response.status_code,
                reason_phrase=response.reason_phrase,
            ),
            N_("Check the address under “Send traces to” in the settings."),
        )


def read_metrics(gate: Gate, address: str, token: Secret | None) -> str:
    """Read the metrics of the Hearth whose server is at an address.

    Raises:
        AddressInvalid: The address is not valid.
        MetricsRefused: The server refuses, for example because of a wrong token.
        NoConnection: No server listens there.
        AppError: The connection failed.
    """
    import httpx2

    if not is_http(address):
        raise AddressInvalid(
            N_("“{address}” is not the address of a server.", address=address),
            N_("It needs http:// or https:// and a host."),
            N_("Write it like: http://127.0.0.1:8117."),
        )
    purpose: Purpose = "look at a server"
    headers = {"Authorization": f"Bearer {token.reveal()}"} if token is not None else {}
    try:
        with gate.lend(purpose, address) as client:
            response = client.get(
                f"{address.rstrip('/')}/metrics",
                headers=headers,
                extensions={"within_s": _WITHIN_S},
            )
    except httpx2.ConnectError as error:
        raise NoConnection(
            N_("No server of Hearth’s answers at {address}.", address=address),
            N_("It is not running, or listens elsewhere."),
            N_("Turn it on under Engines."),
            terminal=N_(
                "Start it with `hearth serve`, or turn it on in the window; --url names "
                "another address."
            ),
        ) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise as_user_error(error, httpx2.URL(address).host) from error
    if not response.is_success:
        raise MetricsRefused(
            N_("The server at {address} did not show its metrics.", address=address),
            N_(
                "It answered {status_code} {reason_phrase}.",
                status_code=response.status_code,
                reason_phrase=response.reason_phrase,
            ),
            N_("Check its token."),
            terminal=N_("Give its token to --token-stdin; `hearth clients token` shows it."),
        )
    return response.text
