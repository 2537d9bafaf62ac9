"""The chat: what it shows of an answer, how it paces it, and what the served page asks a browser to fetch."""

from __future__ import annotations

import json
import re
import threading
import types
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted_advisor import CITATIONS, plain_answer, price_answer, ready_url, serving

from assistant import pacing
from assistant.conversations import AdviceFailedError
from assistant.evidence import Answer, Card, Citation, Done, Event, Prose, Working
from assistant.reply import Reply, as_stopped, evidence_html, presentable, working_line

SHOWN_TAGS = frozenset(
    re.findall(
        r"\w+",
        "a blockquote br code details div em h1 h2 h3 h4 h5 h6 hr li mark ol p pre small span strong summary table tbody "
        "td th thead tr ul",
    )
)


def cited(*citations: Citation, **more: object) -> Answer:
    answer: Answer = plain_answer("q", "text [1]").model_copy(update={"citations": citations, **more})
    return answer


def tags(markup: str) -> set[str]:
    return set(re.findall(r"<\s*/?\s*([a-zA-Z][^\s/>]*)", markup))


# --- one reply ---------------------------------------------------------------------------------------------------


def test_the_card_is_shown_first_prose_is_appended_and_the_final_text_replaces_both() -> None:
    reply = Reply()
    shown = []
    for event in (
        Card(markdown="card"),
        Working(message="writing"),
        Prose(markdown=" one"),
        Prose(markdown=" two"),
        Done(answer=plain_answer("q", "final")),
    ):
        reply = reply.after(event)
        shown.append(reply.render())
    assert shown[0] == "card"
    assert shown[3].startswith("card one two\n\n<p")
    assert "writing" in shown[3]
    assert shown[4] == "final"


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("**价格：**每小时", "<strong>价格：</strong>每小时"),
        ("约 3~4 天，5~6 折", "约 3&#126;4 天，5&#126;6 折"),
        ("~~gone~~", "~~gone~~"),
        ("`a~b **c** [1]`", "`a~b **c** [1]`"),
        ("```\n[1] 3~4\n```", "```\n[1] 3~4\n```"),
        ("2 ** 3 ** 4", "2 ** 3 ** 4"),
        ("see [7] and [1](other)", "see [7] and [1](other)"),
        ("$3.9 to $4.8", "$3.9 to $4.8"),
    ],
)
def test_markdown_that_gradio_would_misread_is_mended_and_code_is_not_touched(markdown: str, expected: str) -> None:
    assert presentable(markdown, CITATIONS, "k") == expected


def test_a_citation_links_to_its_own_passage_even_in_a_table_cell() -> None:
    citation = Citation(id=1, title='a | "b"', source="s", locator="l", excerpt="x")
    linked = presentable("| 28.19 [1] |", [citation], "k")
    assert linked.count("|") == 2
    assert 'href="#k-1"' in linked
    assert 'id="k-1"' in evidence_html(cited(citation), "k")


def test_two_answers_on_one_page_do_not_share_the_targets_of_their_citations() -> None:
    first, second = (Reply().after(Done(answer=cited(*CITATIONS))).render() for _ in range(2))
    assert not set(re.findall(r'id="([^"]+)"', first)) & set(re.findall(r'id="([^"]+)"', second))


def test_a_passage_shows_its_table_and_neither_runs_a_script_nor_fetches_a_picture() -> None:
    shown = evidence_html(cited(*CITATIONS), "k")
    assert "<table" in shown
    assert "&lt;script&gt;" in shown
    assert tags(shown) <= SHOWN_TAGS


@given(st.text(max_size=300), st.text(max_size=40))
def test_no_passage_can_break_out_of_its_block(excerpt: str, title: str) -> None:
    citation = Citation(id=1, title=title, source=title, locator=title, excerpt=excerpt, as_of=title)
    shown = evidence_html(cited(citation, dropped=(title,)), "k")
    assert tags(shown) <= SHOWN_TAGS
    assert not re.search(r"""(?:src|href)=(?!"#k-1")""", re.sub(r">[^<]*<", "><", shown))
    assert all("\n" not in block for block in shown.strip("\n").split("\n\n"))
    assert shown.count("<details") == shown.count("</details>") == 3


@pytest.mark.parametrize("excerpt", ["</details><img src=x>", "[x](javascript:alert(1))", "<http://outside.example>"])
def test_markup_in_a_passage_stays_text(excerpt: str) -> None:
    shown = evidence_html(cited(Citation(id=1, title="t", source="s", locator="l", excerpt=excerpt)), "k")
    assert "<img" not in shown
    assert "<a " not in shown
    assert shown.count("</details>") == 2


def test_each_figure_is_shown_with_the_formula_or_passage_it_was_traced_to() -> None:
    answer = next(event for event in price_answer("A100", ()) if isinstance(event, Done)).answer
    shown = evidence_html(answer, "k")
    assert (
        "<td>8,118.72</td><td><strong>Rental cost</strong><br><code>28.19 CNY/h × 4 × 72 h = 8118.72 CNY</code>"
        in shown
    )
    assert '<td>34.74</td><td><a class="cite" href="#k-1">[1]</a>' in shown
    assert "3.5x" in shown


def test_an_answer_without_evidence_has_no_empty_blocks() -> None:
    assert evidence_html(plain_answer("q", "text"), "k") == ""


def test_stopping_replaces_the_working_line() -> None:
    stopped = as_stopped("card" + working_line("writing <b>"), "Stopped")
    assert "writing" not in stopped
    assert stopped.startswith("card")
    assert "Stopped" in stopped
    assert as_stopped("no line", "Stopped").startswith("no line")


# --- pacing ------------------------------------------------------------------------------------------------------


def test_a_thousand_events_become_few_updates_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    read = threading.Event()

    def flood() -> Iterator[Event]:
        for number in range(1_000):
            yield Prose(markdown=str(number))
        read.set()

    # The page is as slow here as it takes the advisor to say everything.
    monkeypatch.setattr(pacing, "time", types.SimpleNamespace(sleep=lambda _: read.wait(30)))
    batches = list(pacing.paced(flood()))
    assert [event.markdown for batch in batches for event in batch if isinstance(event, Prose)] == [
        str(number) for number in range(1_000)
    ]
    assert len(batches) <= 3


def test_silence_still_yields_so_that_stop_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pacing, "HEARTBEAT_SECONDS", 0.01)
    more = threading.Event()

    def slow() -> Iterator[Event]:
        more.wait(30)
        yield Card(markdown="late")

    batches = pacing.paced(slow())
    assert next(batches) == []
    more.set()
    assert [event.kind for batch in batches for event in batch] == ["card"]


def test_stopping_the_page_closes_the_advisor() -> None:
    closed = threading.Event()

    def endless() -> Iterator[Event]:
        try:
            while True:
                yield Card(markdown="x")
        finally:
            closed.set()

    batches = pacing.paced(endless())
    next(batches)
    assert isinstance(batches, Iterator)
    batches.close()  # type: ignore[attr-defined]
    assert closed.wait(30)


def test_a_fault_after_the_card_still_shows_the_card() -> None:
    def failing() -> Iterator[Event]:
        yield Card(markdown="card")
        raise AdviceFailedError

    batches = pacing.paced(failing())
    shown = [next(batches)]
    with pytest.raises(AdviceFailedError):
        shown.extend(batches)
    assert [event.kind for batch in shown for event in batch] == ["card"]


# --- the served page ---------------------------------------------------------------------------------------------


class Fetched(HTMLParser):
    """Collects every address that a browser would fetch when it opens the page."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.addresses += [given[name] or "" for name in ("src", "srcset", "data", "poster") if name in given]
        if tag == "link":
            self.addresses.append(given.get("href") or "")


class Browser:
    """One browser session speaking Gradio's own protocol, on the page of one language."""

    def __init__(self, client: httpx.Client, name: str, language: str = "en") -> None:
        self.client = client
        self.name = name
        self.page = f"/{language}"
        config = client.get(f"{self.page}/config").json()
        self.ids = {c["props"].get("elem_id"): c["id"] for c in config["components"]}
        self.dependencies = config["dependencies"]
        self.thread = ""

    def event(self, component: str, event: str) -> int:
        """The number of the one event of that kind."""
        target = [self.ids[component], event]
        return next(int(each["id"]) for each in self.dependencies if target in map(list, each["targets"]))

    def ask(self, question: str) -> str:
        """Everything the server sends for this question, as text; the conversation goes on in the next."""
        received = self.send(self.event("question", "submit"), [question, self.thread, ""])
        threads = [part for message in received for part in self.threads(message)]
        self.thread = threads[-1] if threads else self.thread
        return json.dumps(received, ensure_ascii=False)

    def send(self, event: int, data: list[object]) -> list[dict[str, Any]]:
        """Trigger an event; returns the messages of the stream up to its end."""
        body = {"data": data, "fn_index": event, "session_hash": self.name, "trigger_id": None}
        self.client.post(f"{self.page}/gradio_api/queue/join", json=body).raise_for_status()
        received = []
        address = f"{self.page}/gradio_api/queue/data"
        with self.client.stream("GET", address, params={"session_hash": self.name}) as response:
            for line in response.iter_lines():
                if line.startswith("data: "):
                    received.append(json.loads(line.removeprefix("data: ")))
                    if received[-1]["msg"] == "process_completed":
                        break
        return received

    def threads(self, message: dict[str, Any]) -> list[str]:
        """The id of the conversation, where a message tells it."""
        data = message.get("output", {}).get("data", [])
        return [data[2]] if len(data) > 2 and isinstance(data[2], str) and re.fullmatch("[0-9a-f]{32}", data[2]) else []


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with (
        serving(tmp_path_factory.mktemp("state")) as process,
        httpx.Client(base_url=ready_url(process), trust_env=False, timeout=60) as client,
    ):
        yield client


@pytest.mark.parametrize("language", ["zh", "en"])
def test_nothing_on_the_page_is_fetched_from_another_host(client: httpx.Client, language: str) -> None:
    page = client.get(f"/{language}/")
    fetched = Fetched()
    fetched.feed(page.text)
    styles = page.text + client.get(f"/{language}/theme.css").text
    fetched.addresses += re.findall(r"url\(\s*['\"]?([^'\")]+)", styles) + re.findall(
        r"@import\s+['\"]([^'\"]+)", styles
    )
    assert len(fetched.addresses) > 5
    own = urlsplit(str(client.base_url)).netloc
    assert {urlsplit(address).netloc for address in fetched.addresses} <= {"", own}


def test_the_browser_is_told_to_fetch_from_nowhere_else(client: httpx.Client) -> None:
    policy = client.get("/zh/").headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy


@pytest.mark.parametrize("language", ["zh", "en"])
def test_each_page_has_its_own_language_and_offers_no_api_of_gradio(client: httpx.Client, language: str) -> None:
    config = client.get(f"/{language}/config").json()
    chat = next(c for c in config["components"] if c["props"].get("elem_id") == "chat")
    chinese = [bool(re.search("[\u4e00-\u9fff]", example["text"])) for example in chat["props"]["examples"]]
    assert chinese == [language == "zh"] * 6
    info = client.get(f"/{language}/gradio_api/info").json()
    assert info == {"named_endpoints": {}, "unnamed_endpoints": {}}


def test_follow_ups_carry_the_conversation_and_two_browsers_never_mix(client: httpx.Client) -> None:
    first, second = Browser(client, "browser-one"), Browser(client, "browser-two")
    assert "after []" in first.ask("echo alpha")
    assert "after []" in second.ask("echo beta")
    assert first.thread != second.thread
    follow_up = first.ask("echo gamma")
    assert "after [&#39;echo alpha&#39;]" in follow_up or "after ['echo alpha']" in follow_up
    assert "after ['echo beta" not in follow_up


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_fault_shows_the_polite_sentence_and_no_internals(client: httpx.Client, language: str) -> None:
    shown = Browser(client, f"browser-three-{language}", language).ask("break now")
    assert AdviceFailedError.sentence[language] in shown  # type: ignore[index]
    assert "the card" in shown
    for internal in ("secret-internals", "ZeroDivisionError", "Traceback"):
        assert internal not in shown


def test_a_question_beyond_the_limit_is_refused_even_past_the_text_box(client: httpx.Client) -> None:
    shown = Browser(client, "browser-four").ask("echo " + "长" * 2_000)
    assert "within 2000 characters" in shown
    assert "asked" not in shown


def test_a_question_is_shown_as_typed_and_never_as_markup(client: httpx.Client) -> None:
    shown = Browser(client, "browser-five").ask("echo <img src=x> $1 **b**")
    questions = [part for part in re.findall(r'"text": "([^"]*)', shown) if "&#60;img" in part and "asked" not in part]
    assert questions
    assert not any(re.search("<(?!button)|[$*]", question) for question in questions)
