"""The choice of the proxy for a host; it asks no name server."""

from __future__ import annotations

from app.base.errors import ProxyRefused
from app.net.endpoint import is_http
from app.net.values.hosts import LOCALHOST, is_loopback
from engines.sentences import N_

__all__ = ["LOCALHOST", "is_loopback", "proxy_for"]


def proxy_for(scheme: str, host: str) -> str | None:
    """Return the system's proxy for a host, or None; this computer needs none.

    Environment variables take precedence over the settings of Windows and macOS. Raises
    ProxyRefused for a kind of proxy that Hearth does not support.
    """
    if is_loopback(host):
        return None
    import urllib.request

    proxies = urllib.request.getproxies()
    proxy = proxies.get(scheme) or proxies.get("all")
    if not proxy or urllib.request.proxy_bypass(host):
        return None
    address = proxy if "://" in proxy else f"http://{proxy}"
    if not is_http(address):
        raise ProxyRefused(
            N_("Hearth cannot reach {host} through this system's proxy.", host=host),
            N_(
                "The proxy's address has to begin with http:// or https:// and name a host; "
                "other kinds of proxy, such as SOCKS, are not supported."
            ),
            N_("Set an HTTP proxy in the system's network settings or in HTTPS_PROXY."),
        )
    return address
