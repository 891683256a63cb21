"""Run commands in a root: as its root or its user, with the network or on a dead one."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

import psutil

_KEEPER: Final = """
root=$1 archives=$2
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=1777 shm "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
mkdir -p "$root/tmp/.X11-unix"
mount --bind /tmp/.X11-unix "$root/tmp/.X11-unix"
mount --bind "$archives" "$root/var/cache/apt/archives"
ip link set lo up
ip tuntap add mode tun name away
ip link set away addrgenmode none
ip link set away up
ip address add 192.0.2.1/24 dev away
ip route add default via 192.0.2.2
echo ready
cat
exit
"""
"""A script that prepares a root, and keeps it until its own standard input ends.

The shell stays while `cat` waits, as it reaps the processes that end in the root after their
parent.

The network is dead: there is a way out of it, as on a computer at home, but nothing takes the
packets, so that the kernel drops and counts them. Its addresses are those reserved for examples.
"""
_PATH: Final = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NETWORK_ENVIRONMENT: Final = ("http_proxy", "https_proxy", "no_proxy")


@dataclass(frozen=True)
class User:
    """A user of a root, by name and number."""

    name: str
    number: int
    home: str


SUPERUSER: Final = User("root", 0, "/root")


class Root:
    """A root while something runs in it.

    A keeper, which ends with this process at the latest, is the first of a PID namespace and owns a
    namespace of mounts and one of networks. So only the root's own processes see its mounts, and
    when the keeper ends for any reason, the kernel ends all of them and removes the mounts and the
    network. Nothing here ever unmounts.
    """

    def __init__(self, folder: Path, archives: Path) -> None:
        """Open the root in this folder.

        Args:
            folder: The folder of the root.
            archives: The folder for the packages that apt fetches.
        """
        self.folder = folder
        archives.mkdir(parents=True, exist_ok=True)
        apart = ["--mount", "--propagation=private", "--net", "--pid", "--fork", "--kill-child"]
        script = ["sh", "-euc", _KEEPER, "keeper", str(folder), str(archives)]
        self._keeper = subprocess.Popen(
            ["unshare", *apart, *script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._keeper.stdout is not None
        if self._keeper.stdout.readline() != "ready\n":
            self.close()
            raise OSError(f"the root {folder} could not be made ready")
        (first,) = psutil.Process(self._keeper.pid).children()
        self._first = first.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything that runs in the root; its mounts disappear with it."""
        self._keeper.communicate()

    def run(
        self,
        *words: str,
        user: User = SUPERUSER,
        network: bool = False,
        given: str = "",
        check: bool = True,
        timeout: float = 900,
        **variables: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run a command to its end.

        Args:
            words: The command.
            user: The user who runs it.
            network: True for this computer's own network instead of the dead one.
            given: The text on its standard input.
            check: True to fail with its output if it fails.
            timeout: The time limit in seconds.
            variables: More environment variables.

        Raises:
            AssertionError: It failed; the message has its output.
        """
        done = subprocess.run(
            self._inside(words, user, network, variables),
            input=given,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
        assert not check or not done.returncode, (
            f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr}"
        )
        return done

    @contextmanager
    def running(
        self, *words: str, user: User, log: Path, **variables: str
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Run a command beside this process, and kill the rest of it at the end."""
        with log.open("wb") as said:
            process = subprocess.Popen(
                self._inside(words, user, False, variables),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
            )
            try:
                yield process
            finally:
                if process.poll() is None:
                    for it in psutil.Process(process.pid).children(recursive=True):
                        it.kill()
                process.wait(timeout=60)

    def ask_to_end(self, process: subprocess.Popen[bytes]) -> int:
        """Send SIGTERM to the program of `running`, not to the one that entered the root for it."""
        (program,) = psutil.Process(process.pid).children()
        program.send_signal(signal.SIGTERM)
        return process.wait(timeout=60)

    def add_user(self, name: str) -> User:
        self.run("useradd", "--create-home", "--shell", "/bin/bash", name)
        number = int(self.run("id", "-u", name).stdout)
        return User(name, number, f"/home/{name}")

    def packets_sent(self) -> int:
        """Count the packets that were sent to anywhere outside the root on its dead network."""
        words = ["nsenter", f"--target={self._first}", "--net", "cat", "/proc/net/dev"]
        table = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        (row,) = (it for it in table.splitlines() if it.strip().startswith("away:"))
        _, packets, _, dropped = row.split(":")[1].split()[8:12]
        return int(packets) + int(dropped)

    def processes(self) -> list[str]:
        """List the processes in the root, as command lines."""
        said = []
        for process in psutil.process_iter():
            with suppress(OSError, psutil.Error):  # it has ended just now
                if Path(f"/proc/{process.pid}/root").readlink() == self.folder:
                    said.append(" ".join(process.cmdline()))
        return said

    def _inside(
        self, words: tuple[str, ...], user: User, network: bool, variables: Mapping[str, str]
    ) -> list[str]:
        """Return the words that enter the root and run these there."""
        environment = {
            "HOME": user.home,
            "USER": user.name,
            "LOGNAME": user.name,
            "LANG": "C.UTF-8",
            "PATH": f"{user.home}/.local/bin:{_PATH}",
            "DEBIAN_FRONTEND": "noninteractive",
            **variables,
        }
        if network:
            environment |= {it: os.environ[it] for it in _NETWORK_ENVIRONMENT if it in os.environ}
        return [
            "nsenter",
            f"--target={self._first}",
            "--mount",
            "--pid",
            *([] if network else ["--net"]),
            "chroot",
            f"--userspec={user.number}:{user.number}",
            str(self.folder),
            "env",
            "--ignore-environment",
            f"--chdir={user.home}",
            *(f"{name}={value}" for name, value in environment.items()),
            *words,
        ]
