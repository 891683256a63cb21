"""NVIDIA cards, from the driver's management library NVML."""

from __future__ import annotations

import importlib
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
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        if error.value in {nvml.NVML_ERROR_LIBRARY_NOT_FOUND, nvml.NVML_ERROR_DRIVER_NOT_LOADED}:
            return ()
        raise
    try:
        driver = _text(nvml.nvmlSystemGetDriverVersion())
        handles = [
            nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount())
        ]
        return tuple(
            replace(
                _gpu(nvml, handle, driver, memory),
                capability=_capability(nvml, handle),
                shows=_shows(nvml, handle),
                hidden=visible is not None and not _named(nvml, handle, number, visible),
            )
            for number, handle in enumerate(handles)
        )
    finally:
        nvml.nvmlShutdown()


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
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return rates
    try:
        for index in range(nvml.nvmlDeviceGetCount()):
            handle = nvml.nvmlDeviceGetHandleByIndex(index)
            try:
                megahertz = nvml.nvmlDeviceGetMaxClockInfo(handle, nvml.NVML_CLOCK_MEM)
                bits = nvml.nvmlDeviceGetMemoryBusWidth(handle)
            except nvml.NVMLError:
                continue
            rates[_text(nvml.nvmlDeviceGetName(handle))] = 2 * megahertz * 1e6 * bits / 8
    finally:
        nvml.nvmlShutdown()
    return {name: rate for name, rate in rates.items() if rate}


def _gpu(nvml: Any, handle: Any, driver: str, memory: Memory) -> Gpu:
    try:
        own = nvml.nvmlDeviceGetMemoryInfo(handle)
        total, free, shared = int(own.total), int(own.free), False
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_NOT_SUPPORTED:
            raise
        # Chips such as GB10 and Jetson have no memory of their own and use the computer's.
        total, free, shared = memory.total_bytes, memory.available_bytes, True
    return Gpu(
        name=_text(nvml.nvmlDeviceGetName(handle)),
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


def _shows(nvml: Any, handle: Any) -> bool:
    try:
        return bool(nvml.nvmlDeviceGetDisplayActive(handle))
    except nvml.NVMLError:
        return False


def _named(nvml: Any, handle: Any, number: int, visible: str) -> bool:
    """Return whether CUDA_VISIBLE_DEVICES names a card, by number or by the start of its UUID."""
    names = [it.strip() for it in visible.split(",")]
    if str(number) in names:
        return True
    try:
        own = _text(nvml.nvmlDeviceGetUUID(handle))
    except nvml.NVMLError:
        return False
    return any(it.startswith("GPU-") and own.startswith(it) for it in names)


def _pci_id(nvml: Any, handle: Any) -> str | None:
    try:
        return _text(nvml.nvmlDeviceGetPciInfo(handle).busId)
    except nvml.NVMLError as error:
        if error.value != nvml.NVML_ERROR_NOT_SUPPORTED:
            raise
        return None


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
