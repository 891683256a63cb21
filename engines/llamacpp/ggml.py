"""Functions of ggml-backend.h that llama-cpp-python does not declare."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


class DeviceProps(ctypes.Structure):
    """`struct ggml_backend_dev_props` in ggml-backend.h, with room for future capabilities."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("memory_free", ctypes.c_size_t),
        ("memory_total", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("device_id", ctypes.c_char_p),
        ("capabilities", ctypes.c_bool * 64),
    )


def ggml_libraries(llama: Any, folder: Path) -> list[Any]:
    """Return the libraries to search; `llama` is libllama's own handle.

    Except on Windows, a handle also finds the functions of its dependencies. On Windows, the same
    libraries that it depends on are opened by name; a copy would have its own registry.
    """
    names = ("ggml.dll", "ggml-base.dll") if sys.platform == "win32" else ()
    return [llama, *(ctypes.CDLL(str(folder / name)) for name in names)]


def ggml_function(libraries: Sequence[Any], name: str, result: Any, *arguments: Any) -> Any:
    """Return the function of this name. Raises AttributeError if no library has it."""
    for library in libraries:
        if found := getattr(library, name, None):
            found.argtypes, found.restype = arguments, result
            return found
    raise AttributeError(f"it has no function {name}")


class Ggml:
    """The functions for back ends and devices. Raises AttributeError if one is missing."""

    def __init__(self, libraries: Sequence[Any]) -> None:
        pointer, text = ctypes.c_void_p, ctypes.c_char_p

        def function(name: str, result: Any, *arguments: Any) -> Any:
            return ggml_function(libraries, f"ggml_backend_{name}", result, *arguments)

        self.load = function("load", pointer, text)
        self.dev_by_name = function("dev_by_name", pointer, text)
        self.cpu_buffer_type = function("cpu_buffer_type", pointer)
        self.dev_count = function("dev_count", ctypes.c_size_t)
        self.dev_get = function("dev_get", pointer, ctypes.c_size_t)
        self.dev_get_props = function("dev_get_props", None, pointer, ctypes.POINTER(DeviceProps))
        self.dev_backend_reg = function("dev_backend_reg", pointer, pointer)
        self.reg_name = function("reg_name", text, pointer)
