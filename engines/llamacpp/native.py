"""The loaded llama.cpp library: its settings, back ends, log and devices.

Where the back ends are modules, those for graphics cards are loaded when a card is first needed:
they start drivers, which can end the process, and computing on the processor does not need them.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import threading
from functools import cached_property
from pathlib import Path
from typing import Any

from engines.errors import EngineUnavailable, is_out_of_memory, out_of_memory
from engines.hardware.values import NativeDevice
from engines.llamacpp.devices_modules import Modules, in_order, modules_in
from engines.llamacpp.ggml import DeviceProps, Ggml, ggml_function, ggml_libraries
from engines.llamacpp.log import NativeLog
from engines.llamacpp.packs import LibraryVersion, Packs, packs_for
from engines.sentences import N_

BINDINGS_VERSION = "0.3.36"
LIBRARY_VERSION = b"0.5.0-dev"
"""The ctypes structures mirror one llama.h; with another library they would corrupt memory."""
SOURCE = "832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e"
"""The hash of the source package, which `installers/lock/native.txt` pins.

llama.cpp keeps its version number for weeks, so the hash distinguishes a module of our llama.cpp
from one of another day.
"""

_KINDS = {0: "cpu", 1: "gpu", 2: "igpu", 3: "accelerator"}


class Native:
    """llama.cpp as this process has loaded it. Get it from `load_native`.

    Attributes:
        api: The functions and structures of llama.h, as llama-cpp-python declares them.
        extra: The functions of llama-ext.h for multi-token prediction.
        layers: Two further functions of llama-ext.h.
        log: The log of llama.cpp.
        library: The file of libllama.
        folder: The folder of its libraries.
    """

    def __init__(self) -> None:
        _prepare_environment()
        try:
            package = importlib.import_module("llama_cpp")
            self.api: Any = importlib.import_module("llama_cpp.llama_cpp")
            # These are functions of llama-ext.h, whose C++ names the bindings know.
            self.extra: Any = importlib.import_module("llama_cpp.llama_cpp_ext")
            self.layers = LayerFunctions(self.api)
            bindings, version = package.__version__, self.api.llama_version()
            # This must be libllama's own handle: llama_cpp._ggml can map a second copy of ggml.
            self.folder = Path(self.api._base_path)
            self.library = Path(self.api._lib._name)
            self._libraries = ggml_libraries(self.api._lib, self.folder)
            self._ggml = Ggml(self._libraries)
        except Exception as error:
            if is_out_of_memory(error):
                raise out_of_memory() from error
            raise unavailable(_why(error)) from error
        if (bindings, version) != (BINDINGS_VERSION, LIBRARY_VERSION):
            raise unavailable(
                N_(
                    "Hearth is made for llama-cpp-python {bindings} with llama.cpp "
                    "{library}, but found {found_bindings} with {found_library}.",
                    bindings=BINDINGS_VERSION,
                    library=LIBRARY_VERSION.decode(),
                    found_bindings=bindings,
                    found_library=_text(version),
                )
            )
        self.log = NativeLog()
        # llama.cpp calls this until the process ends, so it must not be garbage-collected.
        self._log_callback = self.api.llama_log_callback(self._on_log)
        self.api.llama_log_set(self._log_callback, None)
        # If no back end is compiled in, the back ends are modules.
        modules = Modules() if self._ggml.dev_count() else modules_in(self.folder)
        self._cards = list(in_order((*packs().modules, *modules.cards)))
        self._loading = threading.Lock()
        if modules.processor is not None:
            self._ggml.load(os.fsencode(modules.processor))
        self.api.llama_backend_init()

    def _on_log(self, level: int, text: bytes, _user_data: object) -> None:
        self.log.write(level, text.decode(errors="replace"))

    def ggml_function(self, name: str, result: Any, *arguments: Any) -> Any:
        """Return a function of ggml by its C name. Raises AttributeError if there is none."""
        return ggml_function(self._libraries, name, result, *arguments)

    @cached_property
    def media(self) -> Any:
        """The functions of mtmd.h and its helper, for pictures and sounds.

        The first use loads libmtmd, and connects its log to this one.

        Raises:
            EngineUnavailable: libmtmd does not load.
        """
        try:
            media = importlib.import_module("llama_cpp.mtmd_cpp")
        except Exception as error:
            if is_out_of_memory(error):
                raise out_of_memory() from error
            raise unavailable(_why(error)) from error
        media.mtmd_helper_log_set(self._log_callback, None)
        return media

    @cached_property
    def build(self) -> str:
        """A name for this build: its versions, and a hash of libllama's file. Raises OSError.

        The versions alone do not distinguish builds: llama.cpp keeps its number for weeks of
        commits, and ours is compiled without the commit. Nor does the file's time, which is the
        time of installation: the same library, installed again, would seem to be another one.
        """
        import hashlib

        with self.library.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return f"{LIBRARY_VERSION.decode()} {BINDINGS_VERSION} {digest[:16]}"

    @property
    def complete(self) -> bool:
        """True if all back ends are loaded, so that `devices` lists all devices."""
        return not self._cards

    def load_cards(self) -> None:
        """Load the back ends for graphics cards once, which starts their drivers."""
        with self._loading:
            while self._cards:
                self._ggml.load(os.fsencode(self._cards[0]))
                del self._cards[0]

    def device(self, name: str) -> int | None:
        """Return the address of the device with this name; None if there is none."""
        address: int | None = self._ggml.dev_by_name(name.encode())
        return address

    def own_memory(self) -> int:
        """Return the address of the buffer type for the computer's own memory."""
        return int(self._ggml.cpu_buffer_type())

    def devices(self) -> tuple[NativeDevice, ...]:
        """List the devices that llama.cpp can compute on, including the CPU, with memory in bytes.

        Only devices of loaded back ends are listed: see `complete`.
        """
        found = []
        for index in range(self._ggml.dev_count()):
            device = self._ggml.dev_get(index)
            props = DeviceProps()
            self._ggml.dev_get_props(device, ctypes.byref(props))
            registry = self._ggml.dev_backend_reg(device)
            if (kind := _KINDS.get(props.type)) is None:
                continue
            found.append(
                NativeDevice(
                    name=_text(props.name),
                    description=_text(props.description),
                    backend=_text(self._ggml.reg_name(registry)),
                    kind=kind,
                    total_bytes=props.memory_total,
                    # Some drivers report more free memory than there is (llama.cpp issue 29277).
                    free_bytes=min(props.memory_free, props.memory_total),
                    pci_id=_text(props.device_id) or None,
                )
            )
        return tuple(found)


class LayerFunctions:
    """Functions of llama-ext.h that the bindings lack, for the inputs of a model's layers.

    Attributes:
        keep: Makes a context keep a layer's input, or stop keeping it.
        address: Returns the address of a layer's input, one row for each token of the last call.
            For a layer that was not kept, llama.cpp ends the process.
    """

    def __init__(self, api: Any) -> None:
        """Find the functions. Raises AttributeError if one is missing."""
        context = api.llama_context_p_ctypes
        self.keep: Any = _cpp_function(
            api._lib,
            (
                "llama_set_embeddings_layer_inp",
                "_Z30llama_set_embeddings_layer_inpP13llama_contextjb",
                "?llama_set_embeddings_layer_inp@@YAXPEAUllama_context@@I_N@Z",
            ),
            None,
            context,
            ctypes.c_uint32,
            ctypes.c_bool,
        )
        self.address: Any = _cpp_function(
            api._lib,
            (
                "llama_get_embeddings_layer_inp",
                "_Z30llama_get_embeddings_layer_inpP13llama_contextj",
                "?llama_get_embeddings_layer_inp@@YAPEAMPEAUllama_context@@I@Z",
            ),
            ctypes.c_void_p,
            context,
            ctypes.c_uint32,
        )


def _cpp_function(library: Any, names: tuple[str, ...], result: Any, *arguments: Any) -> Any:
    """Return a C++ function by one of the names that compilers give it. Raises AttributeError."""
    for name in names:
        if (function := getattr(library, name, None)) is not None:
            function.argtypes, function.restype = arguments, result
            return function
    raise AttributeError(N_("it has no function {names}", names=names[0]))


def packs() -> Packs:
    """Find the packs for this library, which need not be loaded for this."""
    return packs_for(LibraryVersion(BINDINGS_VERSION, LIBRARY_VERSION.decode(), SOURCE))


def unavailable(why: str) -> EngineUnavailable:
    """Return the error for a library that does not load, or is the wrong version."""
    return EngineUnavailable(
        N_("The llama.cpp engine cannot start."),
        why,
        N_(
            "Start Hearth with run.py, which sets the engine up again;"
            " if that does not help, delete the folder .venv first."
        ),
    )


def _why(error: Exception) -> str:
    """Return the reason why the library does not load.

    The bindings look for each function during their import: a library of another version fails
    there, before its version can be checked.
    """
    if isinstance(error, ModuleNotFoundError) and error.name == "llama_cpp":
        return N_("Its library is not installed.")
    if isinstance(error, OSError | RuntimeError | ImportError):
        return N_("Its library does not load on this computer: {error}.", error=error)
    # A C++ function is searched under all its names; the first is enough for the message.
    detail = str(error).partition(", ")[0]
    return N_(
        "Hearth is made for llama-cpp-python {bindings} with llama.cpp "
        "{library}, but the installed library differs: {difference}.",
        bindings=BINDINGS_VERSION,
        library=LIBRARY_VERSION.decode(),
        difference=detail,
    )


def _prepare_environment() -> None:
    """Set the variables that the libraries read once, when they are loaded."""
    # Between operations, OpenMP threads wait for each other some hundred times for each token. By
    # default they spin, which makes decoding ten times slower if cores are shared. If they sleep at
    # once, waking them doubles the time of a token if cores are not shared. So they spin for some
    # microseconds, as long as the wait should last, and then sleep. GCC's OpenMP also does this
    # with "passive", but only until a second model in the process has its own threads: with more
    # threads than cores, they would sleep at once. With "active" they still spin then. Source:
    # `do_spin` in libgomp's config/linux/wait.h, and `gomp_throttled_spin_count_var` in its env.c.
    os.environ.setdefault("OMP_WAIT_POLICY", "active" if sys.platform == "linux" else "passive")
    os.environ.setdefault("GOMP_SPINCOUNT", "1000")
    # On an H100, the recorded graphs of this llama.cpp gave wrong text when single tokens were
    # evaluated with flash attention, and llama-server's did, too. Without them, the text is the
    # same as on the processor.
    os.environ["GGML_CUDA_DISABLE_GRAPHS"] = "1"
    # A failed assertion would start a debugger, if one is installed, instead of ending.
    os.environ["GGML_NO_BACKTRACE"] = "1"
    # Libraries named by these variables would be loaded before their version is checked.
    os.environ.pop("GGML_BACKEND_PATH", None)
    os.environ.pop("LLAMA_CPP_LIB_PATH", None)
    os.environ.pop("MTMD_CPP_LIB", None)


def giving_addresses(function: Any) -> Any:
    """Return a C function of the bindings in a form that returns a pointer as an address.

    Creating a pointer object takes as long as the call itself.
    """
    address: Any = ctypes.cast(function, ctypes.c_void_p).value
    return ctypes.CFUNCTYPE(ctypes.c_void_p, *function.argtypes)(address)


def c_strlen() -> Any:
    """Return the C library's raw strlen function."""
    return ctypes.cdll.msvcrt.strlen if sys.platform == "win32" else ctypes.CDLL(None).strlen


def release_freed_memory() -> None:
    """Return freed memory to the system where the C library would keep it, as glibc does."""
    if sys.platform != "win32" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def _text(value: bytes | None) -> str:
    return "" if value is None else value.decode(errors="replace")


_lock = threading.Lock()
_loaded: list[Native] = []


def load_native() -> Native:
    """Return llama.cpp, loading it the first time (about 0.3 s). Raises EngineUnavailable."""
    with _lock:
        if not _loaded:
            _loaded.append(Native())
        return _loaded[0]


def loaded_native() -> Native | None:
    """Return llama.cpp if this process has already loaded it, otherwise None."""
    with _lock:
        return _loaded[0] if _loaded else None
