"""What a helping process gets from the app."""

from __future__ import annotations

import json
import sys

import pytest

from engines.cancel import CancelToken
from engines.helper.parent import run_helper

TELL = "import json, os; print(json.dumps(dict(os.environ)))"


def test_the_users_tokens_stay_in_the_app(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HEARTH_TEST"):
        monkeypatch.setenv(name, "kept to ourselves")
    ended = run_helper((sys.executable, "-c", TELL), "", 30.0, CancelToken())
    held = json.loads(ended.out)
    assert {name for name in held if held[name] == "kept to ourselves"} == {"HEARTH_TEST"}
