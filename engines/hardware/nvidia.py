"""NVIDIA cards, from the driver's management library NVML."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import ModuleType
from typing import Any

from engines.hardware.values import Gpu, Memory


def load_nvml() -> ModuleType | None:
    """Load the Python binding of NVML; return None if it is not installed."""
    try:
        return importlib.import_module("pynvml")
    except ModuleNotFoundError:
        return None


@contextmanager
def nvml_session(nvml: Any) -> Iterator[list[Any]]:
    """Use the driver for the time of the block.

    Args:
        nvml: The module; see `load_nvml`.

    Yields:
        A handle for each card, in the driver's order.

    Raises:
        NVMLError: There is no driver, or it does not answer.
    """
    nvml.nvmlInit()
    try:
        count = nvml.nvmlDeviceGetCount()
        yield [nvml.nvmlDeviceGetHandleByIndex(index) for index in range(count)]
    finally:
        nvml.nvmlShutdown()


def nvidia_gpus(nvml: Any, memory: Memory, visible: str | None = None) -> tuple[Gpu, ...]:
    """List the cards that the driver knows; none without a driver.

    Args:
        nvml: The module; see `load_nvml`.
        memory: The computer's memory, which some cards share.
        visible: Value of CUDA_VISIBLE_DEVICES, with numbers in the driver's order; None if not set.

    Raises:
        NVMLError: There is a driver that does not answer.
    """
    if nvml is None:
        return ()
    try:
        with nvml_session(nvml) as cards:
            driver = text_of(nvml.nvmlSystemGetDriverVersion())
            return tuple(
                replace(
                    _gpu(nvml, card, driver, memory),
                    capability=_capability(nvml, card),
                    shows=_draws_screen(nvml, card),
                    hidden=visible is not None and not _is_visible(nvml, card, number, visible),
                )
                for number, card in enumerate(cards)
            )
    except nvml.NVMLError as error:
        if error.value in {nvml.NVML_ERROR_LIBRARY_NOT_FOUND, nvml.NVML_ERROR_DRIVER_NOT_LOADED}:
            return ()
        raise


def memory_rates(nvml: Any) -> dict[str, float]:
    """Return the read bandwidth of each card's memory in bytes per second, by the card's name.

    It is twice the memory's highest clock, because data is transferred on both edges, times the
    width of the bus. Cards that do not report it are left out, and so are all without a driver.

    Args:
        nvml: The module; see `load_nvml`.
    """
    rates: dict[str, float] = {}
    if nvml is None:
        return rates
    with suppress(nvml.NVMLError), nvml_session(nvml) as cards:
        for card in cards:
            with suppress(nvml.NVMLError):
                megahertz = nvml.nvmlDeviceGetMaxClockInfo(card, nvml.NVML_CLOCK_MEM)
                bits = nvml.nvmlDeviceGetMemoryBusWidth(card)
                name = text_of(nvml.nvmlDeviceGetName(card))
                rates[name] = 2 * megahertz * 1e6 * bits / 8
    return {name: rate for name, rate in rates.items() if rate}


def _gpu(nvml: Any, handle: Any, driver: str, memory: Memory) -> Gpu:
    try:
        memory_info = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, free, shared = int(memory_info.total), int(memory_info.free), False
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_NOT_SUPPORTED:
            raise
        # Chips such as GB10 and Jetson have no memory of their own and use the computer's.
        total, free, shared = memory.total_bytes, memory.available_bytes, True
    return Gpu(
        name=text_of(nvml.nvmlDeviceGetName(handle)),
        vendor="nvidia",
        backend="",
        total_bytes=total,
        free_bytes=free,
        integrated=shared,
        driver=f"NVIDIA {driver}",
        usable=False,
        pci_id=_pci_id(nvml, handle),
    )


def _capability(nvml: Any, handle: Any) -> tuple[int, int] | None:
    try:
        major, minor = nvml.nvmlDeviceGetCudaComputeCapability(handle)
    except nvml.NVMLError:
        return None
    return int(major), int(minor)


def _draws_screen(nvml: Any, handle: Any) -> bool:
    try:
        return bool(nvml.nvmlDeviceGetDisplayActive(handle))
    except nvml.NVMLError:
        return False


def _is_visible(nvml: Any, handle: Any, number: int, visible: str) -> bool:
    """Return whether CUDA_VISIBLE_DEVICES names a card, by number or by the start of its UUID."""
    names = [name.strip() for name in visible.split(",")]
    if str(number) in names:
        return True
    try:
        uuid = text_of(nvml.nvmlDeviceGetUUID(handle))
    except nvml.NVMLError:
        return False
    return any(name.startswith("GPU-") and uuid.startswith(name) for name in names)


def _pci_id(nvml: Any, handle: Any) -> str | None:
    try:
        return text_of(nvml.nvmlDeviceGetPciInfo(handle).busId)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_NOT_SUPPORTED:
            raise
        return None


def text_of(value: str | bytes) -> str:
    """Return a text of NVML, which is bytes in some versions of its binding."""
    return value.decode(errors="replace") if isinstance(value, bytes) else value
