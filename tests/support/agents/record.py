"""Lead the real agents through a task at Hearth's server, and record their requests.

    npm install @openai/codex @anthropic-ai/claude-code opencode-ai
    unshare -rn sh -c 'ip link set lo up; python -m tests.support.agents.record node_modules'

There is no network but loopback, so that the agents can reach nothing else. The files in
`recorded/` are the agents' requests as they were sent, except for their longer texts, which belong
to the agents' makers: each word is replaced by another of the same length, and the same word always
by the same one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import lzma
import os
import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tests.support.agents.leading import FILE, TASK, LeadingEngine
from tests.support.services import make_services
from tests.support.serving import serving

RECORDED: Final = Path(__file__).parent / "recorded"
TURNS: Final = 20
TIMEOUT_S: Final = 300
SHORT: Final = 100
"""The longest text that stays as it is: names, ids, commands and their output."""
KEPT: Final = re.compile(r"x-anthropic-billing-header:[^\n]*|</?system-reminder>|<[a-z_]+>")
"""The parts of a text that a server may have to recognise."""

CODEX: Final = """
model = "starter"
model_provider = "hearth"

[model_providers.hearth]
name = "Hearth"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "HEARTH_KEY"
"""


class Recording:
    """An ASGI app that keeps the bodies of the requests to another one."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.bodies: list[tuple[str, Any]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        parts: list[bytes] = []

        async def hearing() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                parts.append(message.get("body", b""))
                if not message.get("more_body") and scope["method"] == "POST":
                    self.bodies.append((scope["path"], json.loads(b"".join(parts))))
            return message

        await self._app(scope, hearing, send)


def claude(programs: Path, url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    words = [str(programs / "claude"), "-p", TASK, "--allowedTools", "Bash"]
    return words, {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_AUTH_TOKEN": "none",
        "ANTHROPIC_MODEL": "starter",
        "ANTHROPIC_SMALL_FAST_MODEL": "starter",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    }


def codex(programs: Path, url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    (home / ".codex").mkdir()
    (home / ".codex" / "config.toml").write_text(CODEX.format(url=url))
    free = "--dangerously-bypass-approvals-and-sandbox"
    words = [str(programs / "codex"), "exec", "--skip-git-repo-check", free, TASK]
    return words, {"HEARTH_KEY": "none"}


def opencode(programs: Path, url: str, home: Path) -> tuple[list[str], dict[str, str]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"starter": {"name": "starter"}},
    }
    config = {"provider": {"hearth": provider}, "model": "hearth/starter"}
    (home / "work" / "opencode.json").write_text(json.dumps(config))
    return [str(programs / "opencode"), "run", TASK], {"OPENCODE_DISABLE_AUTOUPDATE": "1"}


Agent = Callable[[Path, str, Path], tuple[list[str], dict[str, str]]]
AGENTS: Final[Mapping[str, Agent]] = {"claude": claude, "codex": codex, "opencode": opencode}


def lead(name: str, modules: Path, turns: int) -> list[tuple[str, Any]]:
    """Lead an agent through the task; return the path and the body of each request."""
    with tempfile.TemporaryDirectory(prefix="hearth-agent-") as folder:
        home = Path(folder)
        work = home / "work"
        work.mkdir()
        with (
            make_services(home / "data", LeadingEngine(turns)) as services,
            serving(services, Recording) as served,
        ):
            words, variables = AGENTS[name](modules.resolve() / ".bin", served.url, home)
            environment = {"PATH": os.environ["PATH"], "HOME": folder, "TERM": "dumb", **variables}
            ended = subprocess.run(
                words, cwd=work, env=environment, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert isinstance(served.app, Recording)
            bodies = served.app.bodies
        steps = (work / FILE).read_text().splitlines() if (work / FILE).exists() else []
        if ended.returncode or steps != [f"step {number}" for number in range(turns)]:
            print(ended.stdout[-4000:], ended.stderr[-4000:], steps)
            raise SystemExit(f"{name} was not led to the end")
        told = json.dumps(bodies).replace(folder, "/home/agent")
        return [(path, body) for path, body in json.loads(told)]


def scrubbed(value: Any) -> Any:
    """Replace the words of long texts, so that no foreign text is stored."""
    if isinstance(value, dict):
        return {key: scrubbed(it) for key, it in value.items()}
    if isinstance(value, list):
        return [scrubbed(it) for it in value]
    if not isinstance(value, str) or len(value) <= SHORT or value.startswith("hearth:"):
        return value
    kept = KEPT.findall(value)
    parts = KEPT.split(value)
    words = [re.sub(r"[A-Za-z]{3,}", _other, part) for part in parts]
    return "".join(part + mark for part, mark in zip(words, [*kept, ""], strict=True))


def _other(word: re.Match[str]) -> str:
    digest = hashlib.sha256(word[0].lower().encode()).digest()
    vowels, others = "aeiou", "bdfgklmnprstvz"
    return "".join(
        (vowels if at % 2 else others)[digest[at % 32] % (5 if at % 2 else 14)]
        for at in range(len(word[0]))
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", type=Path, help="the folder node_modules")
    parser.add_argument("agents", nargs="*", help="all of them where none is named")
    parser.add_argument("--turns", type=int, default=TURNS)
    args = parser.parse_args()
    RECORDED.mkdir(exist_ok=True)
    for name in args.agents or AGENTS:
        bodies = scrubbed(lead(name, args.modules, args.turns))
        file = RECORDED / f"{name}.json.xz"
        file.write_bytes(lzma.compress(json.dumps(bodies).encode(), preset=9))
        print(f"{name}: {len(bodies)} requests, {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
