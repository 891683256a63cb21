"""Checks values of settings beyond their type and limits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final
from urllib.parse import urlsplit

from app.core.errors import SettingsInvalid
from app.core.network.serving import aliases_named, names_named, sites_named
from app.services.engines.load_options import adapters_named, in_one_file

_ADAPTER: Final = "adapter_config.json"
_PARSED: Final[Mapping[str, Callable[[str], object]]] = {
    "server_aliases": aliases_named,
    "server_names": names_named,
    "server_sites": sites_named,
}
Devices = Callable[[], Collection[str]]


def require_usable(name: str, value: object, devices: Devices | None = None) -> None:
    """Check a value that is about to be set. Raises SettingsInvalid.

    devices: the names of those that llama.cpp lists, where they can be asked for.
    """
    if name == "model":
        _require_model(str(value))
    elif name == "vllm_adapters":
        _require_adapters(str(value))
    elif name == "devices":
        _require_devices(str(value), devices)
    elif name == "traces_endpoint":
        _require_endpoint(str(value).strip())
    elif name in _PARSED:
        _PARSED[name](str(value))


def _require_model(called: str) -> None:
    if not called.strip():
        raise SettingsInvalid(
            "A model has to be named.",
            "The value is empty.",
            "Choose one of the models on this computer.",
            terminal="`hearth models list` shows those that are here; starter is the one of "
            "Hearth’s own.",
        )


def _require_adapters(text: str) -> None:
    for adapter in adapters_named(text):
        if in_one_file(adapter) and not adapter.path.is_file():
            raise SettingsInvalid(
                f"There is no file {adapter.path}.",
                "For llama.cpp an adapter is a GGUF file.",
                "Name that file, such as: style = /home/me/adapters/style.gguf.",
            )
        if not in_one_file(adapter) and not (adapter.path / _ADAPTER).is_file():
            raise SettingsInvalid(
                f"There is no LoRA adapter in {adapter.path}.",
                f"For vLLM an adapter is a folder with a file {_ADAPTER}.",
                "Name the folder that contains it, such as: style = /home/me/adapters/style.",
            )


def _require_endpoint(address: str) -> None:
    if not address:
        return
    try:
        found = urlsplit(address)
        is_address = found.scheme in {"http", "https"} and bool(found.hostname)
        is_address = is_address and found.port != 0
    except ValueError:
        is_address = False
    if not is_address or found.username is not None or found.query or found.fragment:
        raise SettingsInvalid(
            f"“{address}” is not the address of a collector.",
            "It needs http or https and a host, and no name, password or question mark.",
            "Write it like: http://127.0.0.1:4318.",
        )


def _require_devices(text: str, devices: Devices | None) -> None:
    if not text.strip():
        return
    names = [part.strip() for part in text.split(",")]
    twice = len(set(names)) < len(names)
    if not all(names) or twice or any(set(name) & set(" ;=/\\") for name in names):
        raise SettingsInvalid(
            f"“{text.strip()}” is not a list of devices.",
            "One is named twice." if twice and all(names) else "Separate names with single commas.",
            "Write it like: CUDA0, CUDA1. Their names are under Engines.",
            terminal="Write it like: CUDA0, CUDA1. `hearth hardware` shows the names.",
        )
    known = set(devices()) if devices is not None else set()
    if known and (unknown := [name for name in names if name not in known]):
        raise SettingsInvalid(
            f"There is no device “{unknown[0]}”.",
            f"llama.cpp lists here: {', '.join(sorted(known))}.",
            "Their names are under Engines.",
            terminal="`hearth hardware` shows the devices and what is known of each.",
        )
