"""Opens everything that answering needs, once, and answers questions with it.

Wiring only: how a question is answered stands in answer.py.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from assistant import numerals, quantity_joins, quantity_reader, tokens
from assistant.answer import Resources, answer, prompt
from assistant.assumption_changes import Wanted
from assistant.evidence import Answer, Done, Event
from assistant.intent import Span, open_classifier
from assistant.llm import LanguageModel, ModelUnavailableError, connect_model
from assistant.quantities import parse_quantities
from assistant.revised_answer import revised
from ingest.knowledge_base import KnowledgeBase, open_knowledge
from knowledge import card_forms, instances, names, spellings, unknown_names
from knowledge.catalog import load_catalog
from knowledge.embedding import load_embedder
from knowledge.index import Embedder
from knowledge.names import link, normalise
from knowledge.query_memory import QueryMemory
from knowledge.reranking import load_reranker
from knowledge.weights import home

log = logging.getLogger(__name__)


class Advisor:
    """Answers questions. Safe to share between threads: answering keeps no state here."""

    def __init__(self, resources: Resources, knowledge: KnowledgeBase):
        self._having = resources
        self.knowledge = knowledge

    @property
    def model(self) -> LanguageModel | None:
        """The language model, None where answers come without prose."""
        return self._having.model

    def ask(self, question: str, turns: Sequence[str] = ()) -> Iterator[Event]:
        """Answer one question from one state of the index; `turns` are the user's earlier messages, oldest first."""
        with self.knowledge.reading() as index:
            yield from answer(question, turns, replace(self._having, index=index))

    def answer(self, question: str, turns: Sequence[str] = ()) -> Answer:
        """The finished Answer, for callers that show nothing on the way."""
        *_, last = self.ask(question, turns)
        assert isinstance(last, Done)
        return last.answer

    def revised(self, original: Answer, turns: Sequence[str], changes: Wanted) -> Answer:
        """The answer anew with assumptions changed, {calculator: {argument: value}}, without the language model.

        `turns` are the messages before its question; no changes give the answer as it was. Raises ChangeRefusedError.
        """
        with self.knowledge.reading() as index:
            return revised(original, turns, changes, replace(self._having, index=index))

    def warm_up_later(self) -> None:
        """Start the model server in the background, so that the first prose comes soon; its failure shows in answers."""
        if self._having.model:
            threading.Thread(target=self._warm_up, args=(self._having.model,), daemon=True, name="warm-up").start()

    @staticmethod
    def _warm_up(model: LanguageModel) -> None:
        try:
            model.warm_up(prompt("zh"))
        except ModelUnavailableError as error:
            log.warning("the language model is not available yet: %s", error)

    def close(self) -> None:
        """Stop the model server if it is ours, and close the index."""
        if self._having.model:
            self._having.model.close()
        self.knowledge.close()


def open_advisor(
    progress: Callable[[int, int], None] | None = None,
    embedder: Embedder | None = None,
    knowledge_folder: Path | None = None,
) -> Advisor:
    """Load the embedding model unless given, open the index (built where missing or out of date) and the classifier.

    `knowledge_folder`: another place than home() for the index and the list of documents.
    The language model is connected, not started: its first request or `warm_up` does that.
    """
    embedder = QueryMemory(embedder or load_embedder())
    classifier = open_classifier(home() / "classifier", spans_of, embedder, linked_by=_linked_by())
    reranker = load_reranker()
    knowledge = open_knowledge(knowledge_folder or home(), embedder, progress)
    knowledge.index.reranker = reranker
    model = connect_model()
    # The embedded model plans worse than code alone (evals/RESULTS.md); one that is trusted with tools is trusted here.
    resources = Resources(load_catalog(), knowledge.index, classifier, model, plans=model.calls_tools)
    return Advisor(resources, knowledge)


def spans_of(text: str) -> tuple[str, list[Span]]:
    """The normalised text and the spans of its names and quantities, as the classifier wants them."""
    text = normalise(text)
    links = link(text)
    quantities = parse_quantities(text, names=[(item.start, item.end) for item in links])
    spans: list[Span] = [(item.start, item.end, item.kind) for item in links]
    return text, sorted(spans + [(q.start, q.end, q.kind) for q in quantities])


def _linked_by() -> list[Path]:
    modules = (
        names,
        spellings,
        unknown_names,
        instances,
        card_forms,
        numerals,
        tokens,
        quantity_reader,
        quantity_joins,
    )
    return [
        names.TABLE,
        instances.TABLE,
        card_forms.TABLE,
        *(Path(module.__file__) for module in modules if module.__file__),
    ]
