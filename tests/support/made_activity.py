"""Made requests of the last minutes, for plots of them."""

from __future__ import annotations

import math

from app.runtime.services.request_log import RequestLog
from app.runtime.values.request_records import RequestRecord, SampledAs, TokenCounts

SAMPLED = SampledAs(0.7, 0.95, 40, None, None)


def made_record(ended: float, number: int = 0) -> RequestRecord:
    """Return a request of eight seconds that ended at this time; `number` varies its figures."""
    wait, reading = 0.5 * (number % 3), 0.2 + 0.1 * (number % 5)
    asked = ended - 8.0
    first = asked + wait + reading
    prompt, generated = 400 + 90 * number, round(220 + 120 * math.sin(number))
    return RequestRecord(
        "starter",
        "llamacpp",
        1_790_000_000.0 + ended,
        asked,
        asked + wait,
        "chat",
        SAMPLED,
        first,
        ended - 0.1,
        ended,
        "stop",
        TokenCounts(prompt, prompt * (number % 4) // 4, generated, 0, 120, 60 + 3 * (number % 20)),
    )


def note_requests(log: RequestLog, count: int = 40, every_s: float = 14.0) -> None:
    """Fill the last ten minutes of a log."""
    now = log.now()
    for number in range(count):
        log.note(made_record(now - (count - number) * every_s, number))
