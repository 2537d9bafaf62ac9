"""What a check of the installation finds, and how it is told: one line each, the fix on a line of its own.

It holds the form only; the checks stand in doctor_*.py. A check changes nothing, and one that breaks is a fault of its
own while the others go on.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from assistant.evidence import Bilingual

State = Literal["ok", "warning", "fault", "skipped"]
MARKS: dict[State, str] = {"ok": "✓", "warning": "!", "fault": "✗", "skipped": "–"}

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Check:
    """One finding. `name` is stable and for programs; a "skipped" one could not be looked at because of another."""

    name: str
    what: Bilingual
    state: State
    detail: Bilingual
    fix: Bilingual | None = None


Examination = Callable[[], Sequence[Check] | Check]


def same(text: str) -> Bilingual:
    """A value that reads alike in both languages."""
    return Bilingual(zh=text, en=text)


def examine(examinations: Iterable[tuple[str, Bilingual, Examination]]) -> Iterator[Check]:
    """The findings in order; each examination stands under its name, for the case that it breaks."""
    for name, what, look in examinations:
        try:
            found = look()
        except Exception as error:
            log.debug("the check %r broke", name, exc_info=True)
            yield _broken(name, what, error)
        else:
            yield from [found] if isinstance(found, Check) else found


def failed(checks: Iterable[Check]) -> bool:
    """Whether any finding is a fault."""
    return any(check.state == "fault" for check in checks)


def lines(check: Check) -> str:
    """One finding for a reader."""
    told = f"{MARKS[check.state]} {_both(check.what)}: {_both(check.detail)}"
    return f"{told}\n    → {_both(check.fix)}" if check.fix else told


def summary(checks: Sequence[Check]) -> str:
    """How many findings of each kind."""
    counts = {state: sum(check.state == state for check in checks) for state in MARKS}
    return (
        f"{counts['ok']} 项正常 / well, {counts['warning']} 项提醒 / warnings, {counts['fault']} 项故障 / faults, "
        f"{counts['skipped']} 项未查 / not checked"
    )


def as_json(checks: Sequence[Check]) -> str:
    """All findings for a program."""
    listed = [
        asdict(check)
        | {
            "what": check.what.model_dump(),
            "detail": check.detail.model_dump(),
            "fix": check.fix.model_dump() if check.fix else None,
        }
        for check in checks
    ]
    return json.dumps({"ok": not failed(checks), "checks": listed}, ensure_ascii=False, indent=2)


def _both(text: Bilingual) -> str:
    return text.zh if text.zh == text.en else f"{text.zh} / {text.en}"


def _broken(name: str, what: Bilingual, error: Exception) -> Check:
    told = f"{type(error).__name__}: {error}"[:500].replace("\n", " ")
    return Check(
        name,
        what,
        "fault",
        Bilingual(zh=f"检查时出错：{told}", en=f"the check itself broke: {told}"),
        Bilingual(
            zh="多半是安装不完整：先运行 `make install`；仍出错就是程序的问题，请连同这一行报告。",
            en="Most likely the installation is incomplete: run `make install`; if it stays, report this line as a fault of the program.",
        ),
    )
