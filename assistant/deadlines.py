"""Which of the times said in a conversation is the one to be done by: "inside one day", 一天内, 不超过 20 小时.

Reads words around times only; whether a deadline can be met is computed elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from assistant.quantities import Quantity, parse_quantities
from knowledge.names import link, normalise

BEFORE = re.compile(
    r"(?:(?<![a-z])(?:within|inside(?: of)?|under|below|less than|no more than|at most|no longer than|before|(?:done |finish\w* |ready )?by|in (?:under|less than|at most))\s*(?:the |about |just )?|"
    r"(?:不超过|不到|少于|低于|控制在|压到|缩短到|最多))\s*$",
    re.I,
)
BEHIND = re.compile(r"\s*(?:以内|之内|内(?!存)|里(?!面)|(?:or less|max(?:imum)?|tops)(?![a-z]))", re.I)
LOOSE = re.compile(r"(?<![a-z])in\s+(?:just |only )?$", re.I)  # "done in a day", where another time is that of the job
PER = re.compile(r"每|/|per(?![a-z])|an? (?=hour|day).*/", re.I)


def deadline_of(text: str) -> Quantity | None:
    """The time to be done by, None where no word says that one is; its span refers to the normalised text."""
    text = normalise(text)
    times = _times(text)
    strict = [q for q in times if BEFORE.search(text[: q.start]) or BEHIND.match(text, q.end)]
    loose = [q for q in times[-1:] if LOOSE.search(text[: q.start])]
    return next(iter([*strict[-1:], *loose]), None)


def _times(text: str) -> Sequence[Quantity]:
    spans = [(item.start, item.end) for item in link(text)]
    return [q for q in parse_quantities(text, names=spans) if q.kind == "duration" and not PER.match(q.text)]
