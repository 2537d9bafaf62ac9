"""50 events and 50 slash commands at once over Socket Mode: how soon the bot acknowledges, and whether each is answered once.

Run: python -m evals.slack_load [--events 50] [--commands 50] [--seconds 0.2]. The real bolt app against the fake Slack, in
one process, with an advisor that takes `--seconds` for each answer; every event is sent three times, as Slack repeats
it. The bars are those of BARS; exit status 1 where one is missed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from assistant.conversations import Conversations
from assistant.evidence import Answer, Card, Done, Event, Timings
from assistant.slack.bot import SlackBot
from assistant.slack.state import SlackState
from assistant.slack.tokens import SlackTokens
from evals import slack_payloads
from evals.fake_slack import FakeSlack
from evals.fake_slack_socket import Envelope
from evals.fake_slack_state import GENERAL

BARS = {"ack p99 ms": 1000.0, "not acked": 0.0, "not answered": 0.0, "answered twice": 0.0, "faults in messages": 0.0}
WAIT_SECONDS = 120.0
TIMINGS = Timings(understand=1.0, first_event=1.0, total=1.0)


class SlowAdvisor:
    """Answers with the question, after `seconds`."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    def ask(self, question: str, turns: Sequence[str] = ()) -> Iterator[Event]:
        """The events of one answer."""
        time.sleep(self._seconds)
        yield Card(markdown=question)
        yield Done(
            answer=Answer(
                question=question, language="en", status="answered", text=question, verified=True, timings_ms=TIMINGS
            )
        )


def measured(slack: FakeSlack, events: int, commands: int) -> dict[str, float]:
    """All figures of one burst."""
    mentions = [slack_payloads.app_mention(f"question {number}") for number in range(events)]
    commands_before, started, sent = len(slack.ephemerals), time.perf_counter(), list[Envelope]()
    for number in range(max(events, commands)):
        sent += slack.send_event(mentions[number], retries=2) if number < events else []
        sent += [slack.send_command(f"question {number}", user="U0ALICE")] if number < commands else []
    roots = [mention["event"]["ts"] for mention in mentions]

    def answered() -> bool:
        told = len(slack.ephemerals) - commands_before
        return told >= commands and all(slack.replies(GENERAL, ts) for ts in roots) and not slack.unacked

    try:
        slack.wait_until(answered, WAIT_SECONDS)
        time.sleep(1.0)  # for a second answer to show
    except TimeoutError as error:
        sys.stderr.write(f"{error}\n")
    delays = sorted(1000 * envelope.delay_seconds for envelope in sent if envelope.delay_seconds is not None)
    answers = [len(slack.replies(GENERAL, ts)) for ts in roots]
    told = len(slack.ephemerals) - commands_before
    return {
        "envelopes": float(len(sent)),
        "ack p50 ms": delays[len(delays) // 2],
        "ack p99 ms": delays[min(int(len(delays) * 0.99), len(delays) - 1)],
        "ack max ms": delays[-1],
        "not acked": float(len(sent) - len(delays)),
        "not answered": float(answers.count(0) + max(0, commands - told)),
        "answered twice": float(sum(count > 1 for count in answers) + max(0, told - commands)),
        "faults in messages": float(len(slack.faults)),
        "seconds until all were answered": time.perf_counter() - started,
    }


def main(
    events: Annotated[int, typer.Option(min=1)] = 50,
    commands: Annotated[int, typer.Option(min=0)] = 50,
    seconds: Annotated[float, typer.Option(min=0, help="what an answer takes")] = 0.2,
) -> None:
    """Print the figures as Markdown, against the bars; exit status 1 where one is missed."""
    with tempfile.TemporaryDirectory() as folder, FakeSlack() as slack:
        tokens = SlackTokens(bot=slack.bot_token, app=slack.app_token, api_url=slack.api_url)
        state = SlackState(Path(folder) / "slack.sqlite")
        advisor, kept = SlowAdvisor(seconds), Conversations(Path(folder) / "conversations.sqlite")
        bot = SlackBot(tokens, lambda: advisor, kept, state, lambda user: None)
        bot.start()
        slack.wait_until(lambda: slack.connected)
        figures = measured(slack, events, commands)
        bot.close()
        state.close()
    lines = ["| Slack | measured | bar |", "|---|---|---|"]
    for name, value in figures.items():
        bar = BARS.get(name)
        missed = " **missed**" if bar is not None and value > bar else ""
        lines.append(f"| {name} | {value:,.1f}{missed} | {'' if bar is None else f'{bar:,.0f}'} |")
    sys.stdout.write("\n".join(lines) + "\n")
    raise SystemExit(int(any(figures[name] > bar for name, bar in BARS.items())))


if __name__ == "__main__":
    typer.run(main)
