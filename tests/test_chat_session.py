"""The chat below its components: whose conversation is shown, what asking, stopping, editing and rating leave behind."""

from __future__ import annotations

import json
import threading
import types
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pytest
from scripted_advisor import ScriptedAdvisor, by_question, plain_answer, price_answer

from assistant import chat_session, pacing, unfinished
from assistant.accounts import User
from assistant.chat_session import ChatSession, Shown, always, usable_thread
from assistant.conversations import AdviceFailedError, Conversations, Thread, UnknownTurnError
from assistant.evidence import Answer, Card, Done, Event, Language
from assistant.turn_view import as_typed
from assistant.unfinished import UnfinishedReplies

ANN = User("ann", "reader")
BOB = User("bob", "reader")


@pytest.fixture
def store(tmp_path: Path) -> Conversations:
    return Conversations(tmp_path / "conversations.sqlite")


def session_of(store: Conversations, advisor: ScriptedAdvisor | None = None, language: Language = "en") -> ChatSession:
    used = advisor or ScriptedAdvisor(by_question)
    return ChatSession(language, lambda: used, store)


def ask(session: ChatSession, question: str, thread: str = "t", user: User = ANN, **more: Any) -> list[Shown]:
    return list(session.ask(question, thread, user, more.pop("window", "w"), **more))


def texts(shown: Shown) -> list[str]:
    return [message["content"] for message in shown.messages or []]


def priced(answer: Answer) -> Answer:
    (done,) = (event for event in price_answer("A100", ()) if isinstance(event, Done))
    return done.answer.model_copy(update={"question": answer.question})


# --- asking ---------------------------------------------------------------------------------------------------------


def test_a_question_is_kept_and_shown_with_the_conversation_of_its_owner_only(store: Conversations) -> None:
    session = session_of(store)
    ask(session, "echo one")
    ask(session, "echo other", user=BOB)
    last = ask(session, "echo two")[-1]
    assert "after ['echo one']" in texts(last)[3]
    assert len(texts(last)) == 4
    assert "other" not in "".join(texts(last))
    assert session.messages("t", "nobody") == []


def test_two_windows_on_one_conversation_both_end_with_all_of_it(store: Conversations) -> None:
    first = session_of(store)
    running = first.ask("echo slow", "t", ANN, "one")
    next(running)
    ask(session_of(store), "echo fast", window="two")
    last = list(running)[-1]
    assert sum("asked" in text for text in texts(last)) == 2
    assert texts(last) == [message["content"] for message in session_of(store).messages("t", "ann")]


def test_editing_replaces_the_question_and_all_that_followed(store: Conversations) -> None:
    session = session_of(store)
    for word in ("one", "two", "three"):
        ask(session, f"echo {word}")
    second = store.turns("t", "ann")[1].id
    shown = ask(session, "echo changed", instead_of=second)
    assert "after ['echo one']" in texts(shown[-1])[-1]
    assert store.questions("t", owner="ann") == ("echo one", "echo changed")
    assert all("three" not in text for step in shown for text in texts(step))


@pytest.mark.parametrize("owner", ["ann", "bob"])
def test_a_turn_of_another_conversation_or_user_cannot_be_replaced(store: Conversations, owner: str) -> None:
    other = store.append("elsewhere", "echo kept", plain_answer("q", "kept"), owner)
    (shown,) = ask(session_of(store), "echo new", instead_of=other)
    assert not shown.accepted
    assert shown.notice == chat_session.GONE.en
    assert store.questions("elsewhere", owner=owner) == ("echo kept",)
    assert store.questions("t", owner="ann") == ()


def test_the_question_of_anothers_turn_is_not_told(store: Conversations) -> None:
    turn = store.append("t", "secret", None, "bob")
    with pytest.raises(UnknownTurnError):
        session_of(store).question_of(turn, "ann")


def test_a_refused_question_is_neither_asked_nor_kept(store: Conversations) -> None:
    advisor = ScriptedAdvisor()
    session = ChatSession("zh", lambda: advisor, store, allow_question=lambda user: 7.4 if user == ANN else None)
    (slow_down,) = ask(session, "echo")
    assert (slow_down.messages, slow_down.accepted) == (None, False)
    assert "7 秒" in slow_down.notice
    (too_long,) = ask(session, "长" * 2_001, user=BOB)
    assert "2000" in too_long.notice
    assert ask(session, "  \n ") == []
    assert (advisor.asked, store.threads("ann"), store.threads("bob")) == ([], (), ())
    assert ask(session, "echo", user=BOB)[-1].accepted
    assert always(ANN) is None


def test_one_window_asks_one_question_at_a_time(store: Conversations) -> None:
    session = session_of(store)
    running = session.ask("echo first", "t", ANN, "w")
    next(running)
    (refused,) = ask(session, "echo second")
    assert refused.notice == chat_session.BUSY.en
    assert ask(session, "echo elsewhere", window="other")[-1].accepted
    list(running)
    assert ask(session, "echo second")[-1].accepted


def test_the_reader_waits_while_the_advisor_is_loaded_and_is_told_when_it_takes_too_long(
    store: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_session, "LOOK_AGAIN_SECONDS", 0.001)
    advisors = iter([None, None, ScriptedAdvisor()])
    shown = list(ChatSession("en", lambda: next(advisors), store).ask("echo", "t", ANN, "w"))
    assert chat_session.LOADING.en in texts(shown[0])[-1]
    assert "asked" in texts(shown[-1])[1]
    monkeypatch.setattr(chat_session, "LOADING_SECONDS", 0.01)
    last = list(ChatSession("en", lambda: None, store).ask("echo again", "t", ANN, "w"))[-1]
    assert (last.accepted, last.notice) == (False, chat_session.NOT_LOADED.en)
    assert store.questions("t", owner="ann") == ("echo",)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_fault_leaves_the_card_and_the_polite_sentence_in_the_pages_language(
    store: Conversations, language: Language
) -> None:
    session = session_of(store, language=language)
    last = ask(session, "break it")[-1]
    assert "the card" in texts(last)[1]
    assert AdviceFailedError.sentence[language] in texts(last)[1]
    assert "secret" not in texts(last)[1]
    assert 'name="retry"' in texts(last)[1]


def test_the_banner_follows_what_the_model_did_last(store: Conversations) -> None:
    outcomes = iter(
        [
            {"status": "unavailable"},
            {},  # a card of code says nothing about the model
            {"model": "some-model"},
        ]
    )

    def script(question: str, turns: Sequence[str]) -> Iterator[Event]:
        yield Done(answer=plain_answer(question, "x").model_copy(update=next(outcomes)))

    session = session_of(store, ScriptedAdvisor(script))
    seen = []
    for _ in range(3):
        ask(session, "q")
        seen.append(session.model_failed)
    assert seen == [True, True, False]


# --- stopping -------------------------------------------------------------------------------------------------------


def test_what_was_seen_of_a_stopped_answer_stays_and_the_question_stays_context(
    store: Conversations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pacing, "HEARTBEAT_SECONDS", 0.01)
    go_on, closed = threading.Event(), threading.Event()

    def endless(question: str, turns: Sequence[str]) -> Iterator[Event]:
        try:
            yield Card(markdown="the card so far")
            go_on.wait(30)
            yield Card(markdown="never seen")
        finally:
            closed.set()

    session = session_of(store, ScriptedAdvisor(endless))
    running = cast(Any, session.ask("q", "t", ANN, "w"))
    while "the card so far" not in texts(next(running))[-1]:
        pass
    running.close()
    shown = session.messages("t", "ann")[1]["content"]
    assert "the card so far" in shown
    assert chat_session.STOPPED.en in shown
    assert "working" not in shown
    go_on.set()
    assert closed.wait(30)
    assert store.questions("t", owner="ann") == ("q",)
    assert "never seen" not in session.messages("t", "ann")[1]["content"]
    assert chat_session.STOPPED.en not in session_of(store).messages("t", "ann")[1]["content"]


def test_stopping_a_window_lets_it_ask_again_and_stops_no_other(store: Conversations) -> None:
    replies = UnfinishedReplies()
    mine, others = replies.begin("w", "a"), replies.begin("v", "b")
    replies.keep(1, mine)
    replies.stop_window("w")
    mine.show("too late")
    assert (mine.state, mine.shown, others.state) == ("stopped", "a", "running")
    assert (replies.is_running("w"), replies.is_running("v")) == (False, True)
    replies.end(mine, "failed")
    assert replies.of([1, 2]) == {1: mine}
    assert mine.state == "stopped"


def test_unfinished_replies_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unfinished, "MOST_KEPT", 3)
    replies = UnfinishedReplies()
    for turn in range(10):
        replies.keep(turn, replies.begin("w", str(turn)))
    assert sorted(replies.of(range(10))) == [7, 8, 9]


# --- what a turn looks like -------------------------------------------------------------------------------------------


def test_an_answer_offers_what_can_be_done_with_it(store: Conversations) -> None:
    store.append("t", "plain", plain_answer("q", "no table, no figure"), "ann")
    store.append("t", "priced", priced(plain_answer("q", "x")), "ann")
    session = session_of(store)
    _, plain, _, full = (message["content"] for message in session.messages("t", "ann"))
    assert 'name="copy"' in plain
    assert "tables.csv" not in plain
    assert 'name="assumptions"' not in plain
    assert 'name="retry"' not in plain  # asking again would drop what follows
    for name in ("tables.csv", 'name="assumptions"', 'name="retry"', 'name="up"', 'name="down"'):
        assert name in full


def test_a_verdict_shows_until_it_is_taken_back(store: Conversations) -> None:
    turn = store.append("t", "q", plain_answer("q", "x"), "ann")
    session = session_of(store)
    assert session.toggle(turn, "up", "ann") == "up"
    assert 'act up chosen"' in session.messages("t", "ann")[1]["content"]
    assert session.toggle(turn, "down", "ann") == "down"
    assert 'act up chosen"' not in session.messages("t", "ann")[1]["content"]
    assert session.toggle(turn, "down", "ann") is None
    with pytest.raises(UnknownTurnError):
        session.toggle(turn, "up", "bob")


def test_a_revised_answer_is_rendered_anew(store: Conversations) -> None:
    turn = store.append("t", "q", plain_answer("q", "old text"), "ann")
    session = session_of(store)
    session.messages("t", "ann")
    store.revise(turn, plain_answer("q", "new text"), "ann")
    assert "new text" in session.messages("t", "ann")[1]["content"]


def test_an_answer_from_elsewhere_starts_or_joins_a_conversation(store: Conversations) -> None:
    session = session_of(store)
    thread = session.keep("from the calculator", plain_answer("q", "x"), "", "ann")
    assert session.keep("and again", plain_answer("q", "y"), thread, "ann") == thread
    assert store.questions(thread, owner="ann") == ("from the calculator", "and again")


@pytest.mark.parametrize(
    "text", ["<b>x</b>", "# head", "1. one", "a\n===", "$1 *b* _c_", "http://x.example", "    code", "{{x}}"]
)
def test_a_question_is_shown_as_typed(text: str) -> None:
    import html

    shown = as_typed(text)
    assert not set("<>*_#$`[]={}:") & set(shown.replace("&#", "").replace("&nbsp;", ""))
    assert html.unescape(shown).replace("\xa0", " ").strip() == text.strip()


@pytest.mark.parametrize("thread", ["", "a b", "../x", "x" * 65, "<b>"])
def test_what_is_no_id_of_a_conversation_becomes_a_new_one(thread: str) -> None:
    assert usable_thread(thread) != thread
    assert usable_thread("kept-1") == "kept-1"


# --- the handlers of the page -----------------------------------------------------------------------------------------


def request_of(user: User, window: str = "w") -> Any:
    inner = types.SimpleNamespace(scope={"state": {"user": user}})
    return types.SimpleNamespace(request=inner, session_hash=window)


def given(values: list[Any]) -> dict[str, Any]:
    """The values that a handler really gives, by their names."""
    from assistant.web.chat_handlers import SHOWN

    names = (*SHOWN, "form", "rated", "reasons", "words")
    return {
        name: value
        for name, value in zip(names, values, strict=False)
        if not (isinstance(value, dict) and value == {"__type__": "update"})
    }


def sent(**what: object) -> str:
    return json.dumps({**what, "at": 1})


@pytest.fixture
def handlers(store: Conversations) -> Any:
    from assistant.web.chat_handlers import ChatHandlers

    return ChatHandlers(session_of(store))


def test_a_deleted_or_foreign_conversation_opens_as_an_empty_one(handlers: Any, store: Conversations) -> None:
    store.append("of-bob", "secret", plain_answer("q", "secret"), "bob")
    for thread in ("of-bob", "never-there", "", "../x"):
        shown = given(handlers.open(thread, request_of(ANN)))
        assert (shown["chat"], shown["thread"]) == ([], "")
        assert "secret" not in shown["threads"]
    assert given(handlers.open("of-bob", request_of(BOB)))["thread"] == "of-bob"


def test_conversations_are_opened_renamed_and_deleted(handlers: Any, store: Conversations) -> None:
    for thread in ("one", "two"):
        store.append(thread, f"q {thread}", plain_answer("q", "x"), "ann")
    ann = request_of(ANN)
    assert given(handlers.go(sent(do="open", thread="one"), "two", ann))["thread"] == "one"
    renamed = given(handlers.act(sent(do="rename", thread="one", title="neu"), "two", ann))
    assert "neu" in renamed["threads"]
    assert "chat" not in renamed
    assert given(handlers.go(sent(do="delete", thread="one"), "two", ann))["thread"] == "two"
    assert given(handlers.go(sent(do="delete", thread="two"), "two", ann))["thread"] == ""
    assert given(handlers.go(sent(do="new"), "two", ann))["chat"] == []
    assert store.threads("ann") == ()


def test_nobody_renames_deletes_rates_or_edits_what_is_anothers(handlers: Any, store: Conversations) -> None:
    turn = store.append("of-bob", "secret", plain_answer("q", "x"), "bob")
    ann = request_of(ANN)
    handlers.go(sent(do="delete", thread="of-bob"), "", ann)
    handlers.act(sent(do="rename", thread="of-bob", title="mine"), "", ann)
    for what in ("up", "down", "edit"):
        told = given(handlers.act(sent(do=what, turn=turn), "of-bob", ann))
        assert chat_session.GONE.en in told["notice"]
        assert "secret" not in str(told)
    (again,) = handlers.ask_again(sent(turn=turn), "of-bob", ann)
    assert "secret" not in str(again)
    assert store.title("of-bob", "bob") == "secret"
    assert store.turn(turn, "bob").verdict is None


@pytest.mark.parametrize("text", ["", "nonsense", '{"do": "open"', '{"turn": "x"}', "[]"])
def test_a_report_that_is_none_changes_nothing(handlers: Any, text: str) -> None:
    ann = request_of(ANN)
    assert given(handlers.go(text, "t", ann)) == {}
    assert given(handlers.act(text, "t", ann)) == {}
    assert [given(step) for step in handlers.ask_again(text, "t", ann)] == [{}]


def test_a_thumb_down_opens_the_form_and_up_closes_it(handlers: Any, store: Conversations) -> None:
    turn = store.append("t", "q", plain_answer("q", "x"), "ann")
    ann = request_of(ANN)
    down = given(handlers.act(sent(do="down", turn=turn), "t", ann))
    assert (down["form"].visible, down["rated"]) == (True, str(turn))
    up = given(handlers.act(sent(do="up", turn=turn), "t", ann))
    assert up["form"].visible is False
    assert store.turn(turn, "ann").verdict == "up"


def test_editing_puts_the_question_in_the_box_and_a_refusal_keeps_it_there(handlers: Any, store: Conversations) -> None:
    turn = store.append("t", "echo old", plain_answer("q", "x"), "ann")
    ann = request_of(ANN)
    editing = given(handlers.act(sent(do="edit", turn=turn), "t", ann))
    assert (editing["box"].value, editing["editing"]) == ("echo old", str(turn))
    (refused,) = handlers.ask("長" * 2_001, "t", editing["editing"], ann)
    told = given(refused)
    assert told["box"].value == "長" * 2_001
    assert "editing" not in told
    *_, last = handlers.ask("echo new", "t", editing["editing"], ann)
    assert given(last)["editing"] == ""
    assert store.questions("t", owner="ann") == ("echo new",)


def test_asking_again_asks_the_same_question_with_the_same_context(handlers: Any, store: Conversations) -> None:
    ann = request_of(ANN)
    for question in ("echo one", "echo two"):
        *_, last = handlers.ask(question, "t", "", ann)
    turn = store.turns("t", "ann")[-1].id
    *_, last = handlers.ask_again(sent(turn=turn), "t", ann)
    assert "asked 'echo two' after ['echo one']" in given(last)["chat"][-1]["content"]
    assert len(store.turns("t", "ann")) == 2


def test_only_the_first_step_touches_the_box(handlers: Any) -> None:
    steps = [given(step) for step in handlers.ask("echo", "t", "", request_of(ANN))]
    assert steps[0]["box"].value == ""
    assert all("box" not in step for step in steps[1:-1])
    assert steps[-1]["box"].submit_btn is True


def test_a_broken_file_shows_a_polite_sentence_without_its_path(handlers: Any, store: Conversations) -> None:
    store.path.unlink()
    store.path.mkdir()
    ann = request_of(ANN)
    for values in (handlers.open("t", ann), handlers.stop("t", ann), handlers.act(sent(do="up", turn=1), "t", ann)):
        assert AdviceFailedError.sentence.en in given(values)["notice"]
        assert str(store.path) not in str(values)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_list_marks_the_open_conversation_and_escapes_titles(language: Language) -> None:
    from assistant.web.conversation_list import threads_html

    title = '<b>`${alert(1)}` {{x}} "quoted"</b>'
    shown = threads_html([Thread("a", title, "2026", 1), Thread("b", "other", "2026", 2)], "b", language)
    assert shown.count('aria-current="true"') == 1
    assert not any(part in shown for part in ("<b>", "${", "{{", "`", '"quoted"'))
    assert ("改名" in shown) == (language == "zh")
