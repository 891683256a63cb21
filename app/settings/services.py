"""Checks of the values of settings, beyond their type and limits."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final
from urllib.parse import urlsplit

from app.base.errors import SettingsInvalid
from app.base.home import expand_home
from app.net.values.serving import parse_aliases, parse_names, parse_sites
from app.settings.values.fields import Settings
from app.settings.values.models import MODEL_NAME_SETTINGS
from app.settings.values.named import is_gguf_file, parse_adapters, parse_folders
from engines.sentences import N_

_ADAPTER: Final = "adapter_config.json"
Devices = Callable[[], Collection[str]]
RequireModel = Callable[[str], object]
"""Raises ModelUnknown or ModelAmbiguous if the name does not identify one model."""

_NO_EMBEDDING: Final = "off"


def require_usable(
    name: str,
    value: object,
    devices: Devices | None = None,
    require_model: RequireModel = lambda _: None,
    settings: Settings | None = None,
) -> None:
    """Check a value that is about to be set.

    Args:
        devices: Returns the names of llama.cpp's devices, if they can be listed.
        require_model: Checks the name of a model.
        settings: All settings after the change, for a value that depends on another one.

    Raises:
        SettingsInvalid: The value cannot be used. `require_model` can raise other errors.
    """
    text = str(value)
    if name == "model":
        _require_model(text)
    if name == "devices":
        _require_devices(text, devices)
    elif name == "adapter" and settings is not None:
        require_adapter(text.strip(), settings)
    elif name in _CHECKS:
        _CHECKS[name](text)
    for model_name in _model_names_in(name, text):
        require_model(model_name)


def _model_names_in(setting: str, text: str) -> Collection[str]:
    """Return the names of models in a value."""
    name = text.strip()
    if setting == "server_aliases":
        return parse_aliases(text).values()
    if (
        setting not in MODEL_NAME_SETTINGS
        or not name
        or (setting, name) == ("embedding_model", _NO_EMBEDDING)
    ):
        return ()
    return (name,)


def require_adapter(name: str, settings: Settings) -> None:
    """Check that the settings list this adapter. Raises SettingsInvalid."""
    names = [adapter.name for adapter in parse_adapters(settings.vllm_adapters)]
    if name and name not in names:
        raise SettingsInvalid(
            N_("There is no adapter “{name}”.", name=name),
            N_("The settings list these adapters: {names}.", names=", ".join(names))
            if names
            else N_("No adapter is listed in the settings."),
            N_("List it in the settings first, under Engines."),
            terminal=N_("List it first: `hearth settings set vllm_adapters 'NAME = PATH'`."),
        )


def _require_folders(text: str) -> None:
    for folder in parse_folders(text):
        if not folder.is_dir():
            raise SettingsInvalid(
                N_("There is no folder {folder}.", folder=folder),
                N_("Hearth can only look for models in a folder that exists."),
                N_("Check the path, and that its disk is connected."),
            )


def _require_file(text: str) -> None:
    if text.strip() and not expand_home(text.strip()).is_file():
        raise SettingsInvalid(
            N_("There is no file {path}.", path=text.strip()),
            N_("Encrypted connections need a certificate and its key, each in a file."),
            N_("Check the path."),
        )


def _require_model(name: str) -> None:
    if not name.strip():
        raise SettingsInvalid(
            N_("This setting needs the name of a model."),
            N_("The value is empty."),
            N_("Choose one of the models on this computer."),
            terminal=N_("`hearth models list` shows them; starter is Hearth’s own model."),
        )


def _require_adapters(text: str) -> None:
    for adapter in parse_adapters(text):
        if is_gguf_file(adapter) and not adapter.path.is_file():
            raise SettingsInvalid(
                N_("There is no file {path}.", path=adapter.path),
                N_("For llama.cpp an adapter is a GGUF file."),
                N_("Name that file, such as: style = /home/me/adapters/style.gguf."),
            )
        if not is_gguf_file(adapter) and not (adapter.path / _ADAPTER).is_file():
            raise SettingsInvalid(
                N_("There is no LoRA adapter in {path}.", path=adapter.path),
                N_("For vLLM an adapter is a folder with a file {adapter}.", adapter=_ADAPTER),
                N_("Name the folder that contains it, such as: style = /home/me/adapters/style."),
            )


def _require_endpoint(text: str) -> None:
    address = text.strip()
    if not address:
        return
    try:
        parts = urlsplit(address)
        is_address = parts.scheme in {"http", "https"} and bool(parts.hostname)
        is_address = is_address and parts.port != 0
    except ValueError:
        is_address = False
    if not is_address or parts.username is not None or parts.query or parts.fragment:
        raise SettingsInvalid(
            N_("“{address}” is not the address of a collector.", address=address),
            N_("It needs http or https and a host, and no name, password or question mark."),
            N_("Write it like: http://127.0.0.1:4318."),
        )


def _require_devices(text: str, devices: Devices | None) -> None:
    if not text.strip():
        return
    names = [part.strip() for part in text.split(",")]
    has_duplicates = len(set(names)) < len(names)
    if not all(names) or has_duplicates or any(set(name) & set(" ;=/\\") for name in names):
        raise SettingsInvalid(
            N_("“{text}” is not a list of devices.", text=text.strip()),
            N_("One is named twice.")
            if has_duplicates and all(names)
            else N_("Separate names with single commas."),
            N_("Write it like: CUDA0, CUDA1. Their names are under Engines."),
            terminal=N_("Write it like: CUDA0, CUDA1. `hearth hardware` shows the names."),
        )
    available = set(devices()) if devices is not None else set()
    if available and (unknown := [name for name in names if name not in available]):
        raise SettingsInvalid(
            N_("There is no device “{name}”.", name=unknown[0]),
            N_("llama.cpp lists these devices: {names}.", names=", ".join(sorted(available))),
            N_("Their names are under Engines."),
            terminal=N_("`hearth hardware` shows the devices and what is known of each."),
        )


_CHECKS: Final[Mapping[str, Callable[[str], object]]] = {
    "server_names": parse_names,
    "server_sites": parse_sites,
    "server_certificate": _require_file,
    "server_key": _require_file,
    "model_folders": _require_folders,
    "vllm_adapters": _require_adapters,
    "traces_endpoint": _require_endpoint,
}
"""Checks that depend only on the value."""
