"""Reads from vLLM's log why it did not start or crashed, with an entry for each known cause. Pure.

The last error in a log is a general one; the cause is the first error of a process further in. The
word "Error" alone proves nothing, because a harmless warning at the start contains it too. The
lines about cards come from the sources of vLLM 0.33, PyTorch 2.14 and Triton.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from engines.errors import (
    Action,
    ContextTooLarge,
    EngineError,
    EngineFailed,
    EngineUnavailable,
    ModelDamaged,
    NotEnoughMemory,
    UnknownArchitecture,
)
from engines.sentences import N_, joined

_ERROR: Final = re.compile(
    r"\((?:EngineCore|Worker|APIServer)[^)]*\)\s+(?:ERROR\s.*?)?\s*"
    r"([A-Za-z_.]*(?:Error|Exception|Exit)): (.+)"
)
_PLAIN_ERROR: Final = re.compile(r"^[a-z_.A-Z]*(?:Error|Exception): (.+)")
_ENDED: Final = re.compile(r"Failed core proc\(s\): \{'[^']*': (-?\d+)")
"""Matches the line in which vLLM's first process reports the exit code of another one."""

_REPORTS: Final = re.compile(r"(?:INFO|DEBUG|WARNING)\b")
_GENERAL: Final = (
    "Engine core initialization failed",
    "See root cause",
    "EngineDeadError",
    "CancelledError",
    "Error: cancelled",
)


def cause(lines: Sequence[str], code: int | None = None) -> str:
    """Explain why a worker ended, with the first error in its log that names a cause.

    Without such an error, the text says how the processes ended, and quotes the last line unless
    that only reports progress.

    Args:
        code: Exit code of the worker's first process, if known; it can be 0 after a crash.
    """
    if error := first_error(lines):
        return N_("It says: {sentence}", sentence=error)
    inner = _ENDED.search("\n".join(lines))
    ended = _describe_exit(int(inner[1]) if inner else code)
    last = _without_process(lines[-1]) if lines else ""
    if not last or _REPORTS.match(last) or any(words in last for words in _GENERAL):
        return ended
    return N_("{ended} Its last message: {sentence}", ended=ended, sentence=sentence(last))


def _describe_exit(code: int | None) -> str:
    """Describe how a process ended that logged no error."""
    if code in (-9, 137):
        return N_(
            "The system ended one of its processes (signal 9), as it does when memory runs out."
        )
    if code is not None and code < 0:
        return N_("One of its processes crashed (signal {code}).", code=-code)
    if code:
        return N_("It ended with exit code {code}, and wrote no error.", code=code)
    return N_("It ended, and wrote no error.")


def first_error(lines: Sequence[str]) -> str | None:
    """Return the first error in a log that names a cause, or None."""
    specific = [line for line in lines if not any(words in line for words in _GENERAL)]
    for line in specific:
        if "ERROR" in line and (match := _ERROR.search(line)):
            return sentence(match[2])
    for line in specific:
        if match := _PLAIN_ERROR.search(_without_process(line)):
            return sentence(match[1])
    return None


def _without_process(line: str) -> str:
    """Remove the process name from the start of a line."""
    return re.sub(r"^\([^)]*\)\s*", "", line)


def sentence(text: str) -> str:
    """Turn a text into a single sentence on one line, cut after 300 characters."""
    text = re.sub(r"\s+", " ", text).strip().rstrip(".")
    return f"{text[:300]}." if len(text) <= 300 else f"{text[:300]}…"


_Match = re.Match[str]


@dataclass(frozen=True)
class Circumstances:
    """Facts that an error message can mention.

    Attributes:
        model: Name of the model.
        context: Requested context in tokens.
        users: Other programs that use the cards' memory, such as "blender 3.1 GB".
    """

    model: str
    context: int
    users: tuple[str, ...] = ()


_MakeError = Callable[[_Match, Circumstances], EngineError]
_KNOWN: Final[list[tuple[re.Pattern[str], _MakeError]]] = []
"""Patterns of the known causes, most specific first; the first match is used."""

_MEMORY_RAN_OUT: Final = r"CUDA out of memory\.[^\n]*|CUDA error: out of memory"
_STEP: Final = 256
_SHORTEST: Final = 512


def start_failure(
    lines: Sequence[str], circumstances: Circumstances, code: int | None = None
) -> EngineError:
    """Return the error for a worker that ended before it was ready. For `code`, see `cause`."""
    text = "\n".join(lines)
    for pattern, make_error in _KNOWN:
        if match := pattern.search(text):
            return make_error(match, circumstances)
    return EngineFailed(
        N_("vLLM could not start with “{model}”.", model=circumstances.model),
        cause(lines, code),
        N_("Look at its log in the settings; try another model, or use llama.cpp."),
        Action("open_settings", "engine"),
    )


def stalled(model: str, seconds: float, *, computes: bool) -> EngineFailed:
    """Return the error for a start that hangs.

    Args:
        seconds: Length of the silence.
        computes: The worker has computed all the time.
    """
    minutes = round(seconds / 60)
    return EngineFailed(
        N_("vLLM could not finish loading “{model}”.", model=model),
        N_("It has computed for {minutes} minutes without reporting anything.", minutes=minutes)
        if computes
        else N_(
            "It has neither reported nor computed anything for {minutes} minutes.", minutes=minutes
        ),
        N_("Try again; if it happens again, use llama.cpp, and send us the report with its log."),
    )


def crash_failure(
    lines: Sequence[str], circumstances: Circumstances, code: int | None = None
) -> EngineError:
    """Return the error for a worker that ended unexpectedly after it was ready.

    For `code`, see `cause`; vLLM exits with 0 even after a crash.
    """
    text = "\n".join(lines)
    for pattern, make_error in _KNOWN:
        # Memory can run out, and kernels can be compiled, during any answer.
        if make_error in _IN_THE_MIDDLE and (match := pattern.search(text)):
            return make_error(match, circumstances)
    error = first_error(lines)
    return EngineFailed(
        N_("vLLM has stopped."),
        N_("It says: {sentence}", sentence=error)
        if error
        else _describe_exit(code)
        if code
        else N_("One of its processes ended unexpectedly, perhaps because memory ran out."),
        N_("What it wrote is kept. Ask again: Hearth restarts it."),
    )


class Hung(EngineFailed):
    """A worker has neither computed nor ended for some time."""

    def __init__(self, seconds: float) -> None:
        super().__init__(
            N_("vLLM stopped responding and was ended."),
            N_(
                "It had an answer to write, and for {seconds} seconds none of its processes did "
                "anything.",
                seconds=round(seconds),
            ),
            N_("What it wrote is kept. Ask again: Hearth restarts it."),
        )


def too_many_crashes(times: int) -> EngineError:
    """Return the error for a worker that crashes again after every start."""
    return EngineFailed(
        N_("vLLM stays off for now."),
        N_("It has stopped {times} times within a few minutes.", times=times),
        N_(
            "Load the model again to try once more, with a shorter context or less memory; or use"
            " llama.cpp."
        ),
        Action("open_settings", "engine"),
    )


def _cause(pattern: str) -> Callable[[_MakeError], _MakeError]:
    """Register a function that makes the error for a pattern in the log."""

    def register(make_error: _MakeError) -> _MakeError:
        _KNOWN.append((re.compile(pattern), make_error))
        return make_error

    return register


def _round_down(tokens: float) -> int:
    return max(_SHORTEST, int(tokens) // _STEP * _STEP)


@_cause(
    r"\((?P<needed>[\d.]+) GiB KV cache is needed.*?\((?P<there>-?[\d.]+) GiB\)"
    r".*?estimated maximum model length is (?P<fits>\d+)"
)
def _shorter(match: _Match, circumstances: Circumstances) -> EngineError:
    fits = int(match["fits"])
    return NotEnoughMemory(
        N_(
            "There is not enough memory for a context of {context} tokens.",
            context=f"{circumstances.context:,}",
        ),
        N_(
            "With “{model}” the KV cache takes {needed} GiB, and {free} GiB are free for it.",
            model=circumstances.model,
            needed=match["needed"],
            free=match["there"],
        ),
        N_(
            "Take a context of {fits} tokens, or an 8-bit KV cache.",
            fits=f"{_round_down(fits):,}",
        ),
        Action("shorter_context", _round_down(fits)),
    )


@_cause(r"No available memory for the cache blocks|Cannot auto-fit max_model_len")
def _no_room(_: _Match, circumstances: Circumstances) -> EngineError:
    return NotEnoughMemory(
        N_("There is not enough memory for “{model}”.", model=circumstances.model),
        N_("Its weights take all the memory that vLLM may use, so none is left for a context."),
        N_(
            "Close other programs, raise the share of the card’s memory, or choose a smaller "
            "model or"
            " quantisation."
        ),
        Action("free_memory"),
    )


@_cause(
    r"Available memory on node \d+ \((?P<there>[\d.]+)/[\d.]+ GiB\).*?"
    r"less than requested memory for kv \((?P<needed>[\d.]+) GiB\)"
)
def _ram(match: _Match, circumstances: Circumstances) -> EngineError:
    available, needed = float(match["there"]), float(match["needed"])
    fits = _round_down(circumstances.context * 0.8 * available / needed)
    return NotEnoughMemory(
        N_(
            "There is not enough memory for a context of {context} tokens.",
            context=f"{circumstances.context:,}",
        ),
        N_(
            "Its KV cache would take {needed} GiB, and {available} GiB of the "
            "computer’s memory are free.",
            needed=f"{needed:g}",
            available=f"{available:g}",
        ),
        N_(
            "Take a context of {fits} tokens, or let vLLM answer fewer chats at once.",
            fits=f"{fits:,}",
        ),
        Action("shorter_context", fits),
    )


@_cause(
    r"Free memory on device.*?\((?P<free>[\d.]+)/(?P<total>[\d.]+) GiB\) on startup is less"
    r" than desired GPU memory utilization \([\d.]+, (?P<wanted>[\d.]+) GiB\)"
)
def _card_in_use(match: _Match, circumstances: Circumstances) -> EngineError:
    users = (
        N_(" In use by: {users}.", users=", ".join(circumstances.users))
        if circumstances.users
        else ""
    )
    return NotEnoughMemory(
        N_("Not enough of the graphics card’s memory is free."),
        N_(
            "vLLM was to take {wanted} GiB, and {free} of {total} GiB are free.{users}",
            wanted=match["wanted"],
            free=match["free"],
            total=match["total"],
            users=users,
        ),
        N_("Close what uses the card, or give vLLM a smaller share of its memory."),
        Action("free_memory"),
    )


@_cause(_MEMORY_RAN_OUT)
def _out_of_memory(match: _Match, circumstances: Circumstances) -> EngineError:
    message = N_("It says: {error}.", error=match[0].strip().rstrip("."))
    users = (
        N_("In use by others: {users}.", users=", ".join(circumstances.users))
        if circumstances.users
        else ""
    )
    return NotEnoughMemory(
        N_("The graphics card’s memory ran out with “{model}”.", model=circumstances.model),
        joined(" ", (message, users)),
        N_(
            "Take a shorter context or fewer chats at once, close what uses the card, or choose a"
            " smaller model."
        ),
        Action("shorter_context", _round_down(circumstances.context / 2)),
    )


@_cause(
    r"NVIDIA driver on your system is too old(?: \(found version (?P<version>\d+)\))?"
    r"|CUDA driver version is insufficient for CUDA runtime version"
)
def _driver(match: _Match, _: Circumstances) -> EngineError:
    version = match.groupdict().get("version")
    level = (
        N_(
            " It supports CUDA {major}.{minor}.",
            major=int(version) // 1000,
            minor=int(version) % 1000 // 10,
        )
        if version
        else ""
    )
    return EngineUnavailable(
        N_("The NVIDIA driver is too old for vLLM."),
        N_(
            "The installed vLLM needs a driver that supports CUDA 13, which is R580 or "
            "later.{level}",
            level=level,
        ),
        N_("Update the driver, and restart the computer; until then use llama.cpp."),
        Action("install", "driver"),
    )


@_cause(
    r"quantization method (?P<method>[\w-]+) is not supported for the current GPU\."
    r" Minimum capability: (?P<least>\d+)\. Current capability: (?P<has>\d+)"
)
def _quantisation(match: _Match, circumstances: Circumstances) -> EngineError:
    def level(number: str) -> str:
        return f"{int(number) // 10}.{int(number) % 10}"

    return EngineUnavailable(
        N_(
            "“{model}” has a quantisation that this card cannot compute.", model=circumstances.model
        ),
        N_(
            "The method {method} needs compute capability {needed}, and the card has {has}.",
            method=match["method"],
            needed=level(match["least"]),
            has=level(match["has"]),
        ),
        N_(
            "Choose a checkpoint that suits the card: W4A16, AWQ, GPTQ, FP8 and NVFP4 run from 7.5,"
            " MXFP4 from 8.0."
        ),
    )


@_cause(
    r"Bfloat16 is only supported on GPUs with compute capability of at least 8\.0\.?"
    r".*?GPU has compute capability (?P<has>[\d.]*\d)"
)
def _no_bfloat(match: _Match, circumstances: Circumstances) -> EngineError:
    return EngineUnavailable(
        N_("“{model}” cannot be computed on this card.", model=circumstances.model),
        N_(
            "Its weights are bfloat16, which needs compute capability 8.0; the card "
            "has {capability}.",
            capability=match["has"],
        ),
        N_("Choose a quantised checkpoint with 16-bit floating point (fp16), or use llama.cpp."),
    )


@_cause(r"type fp8e4nv not supported in this architecture|[Ff][Pp]8 KV cache .*?not supported")
def _no_fp8_cache(_: _Match, __: Circumstances) -> EngineError:
    return EngineUnavailable(
        N_("This card cannot use an 8-bit KV cache."),
        N_("Its compute capability is below 8.9, which fp8 needs here."),
        N_("Set the KV cache type to f16."),
        Action("open_settings", "kv_type"),
    )


@_cause(r"no kernel image is available for execution on the device")
def _no_kernel(_: _Match, circumstances: Circumstances) -> EngineError:
    return EngineUnavailable(
        N_("vLLM has no kernel for “{model}” on this card.", model=circumstances.model),
        N_("The installed build was not compiled for the card’s compute capability."),
        N_(
            "Install vLLM again to fetch its kernels, choose another quantisation, or use "
            "llama.cpp."
        ),
        Action("install", "vllm"),
    )


@_cause(r"max_tokens_per_mm_item \((?P<most>\d+)\) is larger than max_num_batched_tokens")
def _picture(match: _Match, circumstances: Circumstances) -> EngineError:
    least = -(-int(match["most"]) // _STEP) * _STEP
    return EngineFailed(
        N_(
            "A context of {context} tokens is too small for “{model}”.",
            context=f"{circumstances.context:,}",
            model=circumstances.model,
        ),
        N_(
            "One picture takes {tokens} tokens at once in this model.",
            tokens=f"{int(match['most']):,}",
        ),
        N_("Take a context of {least} tokens or more.", least=f"{least:,}"),
    )


@_cause(r"fatal error: Python\.h")
def _headers(_: _Match, __: Circumstances) -> EngineError:
    return EngineUnavailable(
        N_("vLLM could not compile a kernel for this card."),
        N_("Compiling it needs Python’s headers, and Python.h was not found."),
        N_("Install them (the package python3-dev, or python3-devel on Fedora), then try again."),
        Action("install", "compiler"),
    )


@_cause(
    r"Could not find nvcc[^\n]*|nvcc: (?:command )?not found"
    r"|No such file or directory: '[^'\n]*(?:nvcc|ninja)'|Ninja is required[^\n]*"
    r"|ninja: (?:command )?not found"
)
def _own_tools(match: _Match, _: Circumstances) -> EngineError:
    return EngineUnavailable(
        N_("vLLM could not compile a kernel for this card."),
        N_(
            "A tool of its own installation is missing or cannot be run: {found}.",
            found=match[0].strip().rstrip("."),
        ),
        N_("Remove vLLM under Engines and install it again."),
        Action("install", "vllm"),
    )


@_cause(r"Failed to find C compiler[^\n]*|(?:gcc|g\+\+|c\+\+|cc): (?:command )?not found")
def _compiler(match: _Match, _: Circumstances) -> EngineError:
    return EngineUnavailable(
        N_("vLLM could not compile a kernel for this card."),
        N_("It needs a tool that is not installed: {found}.", found=match[0].strip().rstrip(".")),
        N_("Install a C compiler (the package build-essential or gcc), then try again."),
        Action("install", "compiler"),
    )


@_cause(r"No space left on device|Disk quota exceeded")
def _no_space(_: _Match, __: Circumstances) -> EngineError:
    return EngineFailed(
        N_("vLLM could not write its files."),
        N_(
            "The drive with Hearth’s data folder, or the system’s one for temporary files, is full."
        ),
        N_("Free some space on it, then try again."),
    )


_MAKING: Final = N_("vLLM could not compile a kernel for this card.")
"""First sentence of each error that a compiler causes."""

_READY_ONES: Final = N_(
    "Or remove vLLM under Engines and install it again while online: that downloads "
    "compiled kernels."
)


@_cause(
    r"died due to signal 9|Killed signal terminated program|out of memory allocating \d+ bytes"
    r"|virtual memory exhausted|LLVM ERROR: out of memory|FAILED: \[code=137\]|(?m:\bKilled$)"
    r"|ptxas fatal\s*: Memory allocation failure|ninja: fatal: [^\n]*Cannot allocate memory"
)
def _compiler_memory(_: _Match, __: Circumstances) -> EngineError:
    return NotEnoughMemory(
        _MAKING,
        N_(
            "The computer’s memory ran out while the kernel was compiled, so the "
            "system ended the compiler."
        ),
        N_("Close other programs, then try again. {ready_ones}", ready_ones=_READY_ONES),
        Action("free_memory"),
        terminal=N_(
            "Close other programs, or set MAX_JOBS=1, and try again. Or download "
            "compiled kernels: `hearth engines install vllm`."
        ),
    )


@_cause(
    r"CUDA compiler and CUDA toolkit headers are incompatible"
    r"|[Uu]nsupported gpu architecture '\w+'|Value '\w+' is not defined for option '[\w-]+'"
    r"|The detected CUDA version \([\d.]+\) mismatches the version that was used to compile"
)
def _wrong_toolkit(match: _Match, _: Circumstances) -> EngineError:
    return EngineUnavailable(
        _MAKING,
        N_(
            "Its compiler does not match its other parts or the card: {sentence}",
            sentence=sentence(match[0]),
        ),
        N_("Update vLLM under Engines. {ready_ones}", ready_ones=_READY_ONES),
        Action("install", "vllm"),
        terminal=N_("Update it, or download compiled kernels: `hearth engines install vllm`."),
    )


@_cause(r"unsupported GNU version![^\"\n]*|unsupported clang version![^\"\n]*")
def _host_compiler(match: _Match, _: Circumstances) -> EngineError:
    return EngineUnavailable(
        _MAKING,
        N_(
            "Its compiler does not work with the C++ compiler of this computer: {sentence}",
            sentence=sentence(match[0]),
        ),
        N_(
            "Install an older one, such as g++-14, and start Hearth with CC=gcc-14 and "
            "CXX=g++-14. {ready_ones}",
            ready_ones=_READY_ONES,
        ),
        Action("install", "compiler"),
    )


@_cause(r"cannot find -lcuda\b|libcuda\.so[.\d]*: cannot open shared object file")
def _no_driver_library(_: _Match, __: Circumstances) -> EngineError:
    return EngineUnavailable(
        _MAKING,
        N_("It is linked with libcuda.so.1, a part of the NVIDIA driver, which was not found."),
        N_("Install the NVIDIA driver again, and restart the computer."),
        Action("install", "driver"),
    )


@_cause(
    r"Ninja build failed|ninja: build stopped|(?:nvcc|ptxas|nvlink|fatbinary) (?:fatal|error)\b"
    r"|PTXAS error|NVCC compilation failed|NVRTC_ERROR_COMPILATION|CppCompileError"
    r"|Error building extension|DSLRuntimeError"
)
def _kernel(match: _Match, _: Circumstances) -> EngineError:
    message = _compiler_error(match.string.splitlines()) or match[0]
    return EngineUnavailable(
        _MAKING,
        N_("Compiling it failed: {sentence}", sentence=sentence(message)),
        N_(
            "Remove vLLM under Engines and install it again while online: that "
            "downloads compiled kernels. Until then use llama.cpp, and send us the "
            "report with its log."
        ),
        Action("install", "vllm"),
        terminal=N_("Download compiled kernels: `hearth engines install vllm`. Or use llama.cpp."),
    )


_OF_COMPILER: Final = re.compile(r"\b(?:error|fatal)\s*: *(.+)|ld: ((?:cannot find|undefined).+)")
_BEGINS: Final = re.compile(r"Ninja build failed|FAILED:")
_NO_CAUSE: Final = re.compile(r"ld returned|build stopped")


def _compiler_error(lines: Sequence[str]) -> str | None:
    """Return the first error of a compiler or linker, or None."""
    starts = (index for index, line in enumerate(lines) if _BEGINS.search(line))
    for line in lines[next(starts, 0) :]:
        match = _OF_COMPILER.search(line)
        if match and not _NO_CAUSE.search(line):
            return match[1] or match[2]
    return None


@_cause(r"\[Errno 98\] (?:error while attempting to bind|Address already in use)")
def _port(_: _Match, __: Circumstances) -> EngineError:
    return EngineFailed(
        N_("vLLM could not open its port."),
        N_("Another program uses the port or socket that it was given."),
        N_("Try again: Hearth takes another one."),
    )


@_cause(
    r"Model architectures \['(?P<name>[^']+)'.*?are not supported"
    r"|model type `(?P<type>[^`]+)` but Transformers does not recognize"
)
def _architecture(match: _Match, circumstances: Circumstances) -> EngineError:
    name = match["name"] or match["type"]
    return UnknownArchitecture(
        N_("vLLM cannot run “{model}” yet.", model=circumstances.model),
        N_("The installed version does not know its architecture, “{name}”.", name=name),
        N_("Update vLLM, or choose another model."),
        Action("install", "vllm"),
    )


@_cause(
    r"max_model_len \(\d+\) is greater than the derived max_model_len"
    r" \([\w.]*?=(?P<most>\d+)"
)
def _longer_than_trained(match: _Match, circumstances: Circumstances) -> EngineError:
    return ContextTooLarge(
        N_(
            "A context of {context} tokens is too large for “{model}”.",
            context=f"{circumstances.context:,}",
            model=circumstances.model,
        ),
        N_("It was trained for {most} tokens.", most=f"{int(match['most']):,}"),
        N_("Take a context of {most} tokens.", most=f"{int(match['most']):,}"),
        Action("shorter_context", int(match["most"])),
    )


@_cause(
    r"There is no module or parameter named '[^']+'|exceeds dimension size \(\d+\)"
    r"|JSONDecodeError: [^\n]+"
)
def _contradicts(match: _Match, circumstances: Circumstances) -> EngineError:
    why = N_(
        "Its files do not match each other. vLLM says: {sentence}", sentence=sentence(match[0])
    )
    return ModelDamaged(
        N_("“{name}” is damaged.", name=circumstances.model), why, N_("Download or copy it again.")
    )


@_cause(
    r"LocalEntryNotFoundError|HFValidationError|does not appear to have a file named"
    r"|Couldn't instantiate the backend tokenizer"
)
def _incomplete(_: _Match, circumstances: Circumstances) -> EngineError:
    return ModelDamaged(
        N_("“{name}” is not complete.", name=circumstances.model),
        N_("vLLM looked for a file that is not in the model’s folder."),
        N_("Download it again."),
    )


@_cause(
    r"Total number of attention heads \((?P<heads>\d+)\) must be divisible by"
    r" tensor parallel size \((?P<cards>\d+)\)"
)
def _heads(match: _Match, _: Circumstances) -> EngineError:
    return EngineFailed(
        N_("The model cannot be split over {cards} cards.", cards=match["cards"]),
        N_(
            "It has {heads} attention heads, and each card takes the same number of them.",
            heads=match["heads"],
        ),
        N_("Choose a number of cards by which the heads can be divided."),
        Action("open_settings", "vllm_cards"),
    )


@_cause(
    r"[Ww]orld size \((?P<cards>\d+)\) is larger than the number of available GPUs"
    r" \((?P<there>\d+)\)"
)
def _too_few_cards(match: _Match, _: Circumstances) -> EngineError:
    return EngineFailed(
        N_("There are not {cards} graphics cards for vLLM.", cards=match["cards"]),
        N_("vLLM finds only {available}.", available=match["there"]),
        N_("Set the number of cards that share each layer to the number that vLLM finds."),
        Action("open_settings", "vllm_cards"),
    )


@_cause(r"No module named 'ray'|requires installation of ray|Please install Ray")
def _no_ray(_: _Match, __: Circumstances) -> EngineError:
    return EngineFailed(
        N_("The other computers cannot be reached."),
        N_(
            "vLLM shares layers among computers over Ray, which is not a part of this installation."
        ),
        N_("Set the number of computers to 1."),
        Action("open_settings", "vllm_nodes"),
        terminal=N_(
            "Install vLLM with Ray: `hearth engines install vllm --profile cuda-ray`. Or set"
            " the number of computers to 1."
        ),
    )


@_cause(r"Could not find any running Ray instance")
def _ray(_: _Match, __: Circumstances) -> EngineError:
    return EngineFailed(
        N_("The other computers cannot be reached."),
        N_("vLLM shares layers among computers over Ray, and no Ray cluster answers here."),
        N_("Start Ray on each of them, or set the number of computers to 1."),
        Action("open_settings", "vllm_nodes"),
    )


@_cause(r"LoRA rank \d+ is greater than[^\n]*|Loading lora [^\n]* failed[^\n]*")
def _adapter(match: _Match, _: Circumstances) -> EngineError:
    return EngineFailed(
        N_("A LoRA adapter could not be loaded."),
        N_("vLLM says: {sentence}", sentence=sentence(match[0])),
        N_("Check its folder in the settings, and whether it was made for this model."),
        Action("open_settings", "vllm_adapters"),
    )


_IN_THE_MIDDLE: Final = frozenset(
    (
        _out_of_memory,
        _headers,
        _own_tools,
        _compiler,
        _no_space,
        _compiler_memory,
        _wrong_toolkit,
        _host_compiler,
        _no_driver_library,
        _kernel,
    )
)
"""Causes that can also end a worker that was ready."""
