"""The baseline: the plain LangChain retrieval chain of the tutorials, over the same knowledge as the advisor.

Documents cut every 400 characters, table rows as CSVLoader gives them, our embedding model, Chroma, the nearest four
stuffed into the usual prompt, our language model. It computes, checks and grades NOTHING.
It is slow, so its answers are kept in baseline_answers.jsonl, each with the documents, prompt and models it came from.

Errors: BaselineCacheError (a line of the kept answers is broken). assistant.llm.ModelUnavailableError, the errors of
the embedding model and chromadb.errors.ChromaError pass through.
"""

from __future__ import annotations

import csv
import fcntl
import hashlib
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from assistant.evidence import Bilingual
from assistant.llm import LanguageModel, ModelReplyError, connect_model
from assistant.reading import language_of
from knowledge import weights
from knowledge.embedding import DEFAULT_FINGERPRINT, load_embedder
from knowledge.index import Embedder
from knowledge.table_rows import TABLES

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from langchain_chroma import Chroma
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings

CACHE = Path(__file__).parent / "baseline_answers.jsonl"
TABLE_NAMES = ("offers.csv", "gpus.csv", "purchases.csv", "models.csv")
CHUNK_CHARACTERS, OVERLAP_CHARACTERS = 400, 50
CHUNKS_STUFFED = 4
MAX_TOKENS = 160
WAIT_SECONDS = 600.0  # for the first token: a small machine reads the stuffed prompt for minutes when it is busy
# What no rendered Markdown shows: front matter, and the comments that our own index reads.
NOT_SHOWN = re.compile(r"\A---\n.*?\n---\n|<!--.*?-->\n*", re.DOTALL)

SYSTEM = Bilingual(
    zh="你是负责回答问题的助手。请根据下面检索到的上下文回答问题。如果不知道答案，就直说不知道。最多用三句话，回答要简洁。"
    "\n\n上下文：\n{context}",
    en="You are an assistant that answers questions. Use the following pieces of retrieved context to answer the "
    "question. If you don't know the answer, say that you don't know. Use at most three sentences and be concise."
    "\n\nContext:\n{context}",
)
HISTORY = Bilingual(zh="对话历史：\n{turns}\n\n问题：{question}", en="Chat history:\n{turns}\n\nQuestion: {question}")
FIRST_TURN = Bilingual(zh="问题：{question}", en="Question: {question}")


class BaselineCacheError(ValueError):
    """A kept answer that cannot be read; the message names file, line and fault."""


@dataclass(frozen=True)
class BaselineAnswer:
    """What the chain wrote. `seconds`: search and writing, on the machine and day (`as_of`) that it was written."""

    text: str
    seconds: float
    cached: bool
    as_of: date
    older_documents: bool = False  # the documents or tables have changed since


class KeptAnswer(BaseModel):
    """A line of baseline_answers.jsonl. `key` is of everything the answer depends on but the documents."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str
    documents: str
    as_of: date
    seconds: float
    model: str
    embedding: str
    question: str
    turns: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Sources:
    """The files that the chain may read."""

    documents: Path = TABLES.parent / "documents"
    tables: Path = TABLES

    def files(self) -> list[Path]:
        """Markdown files by name, then the four tables."""
        return [*sorted(self.documents.glob("*.md")), *(self.tables / name for name in TABLE_NAMES)]

    def digest(self) -> str:
        """16 hex digits that change with the name or any byte of any of the files."""
        return _digest(part for file in self.files() for part in (file.name.encode(), file.read_bytes()))


class AnswerCache:
    """Kept answers in a file of JSON lines: appended one by one, whole or not at all, by any number of processes."""

    def __init__(self, file: Path = CACHE) -> None:
        self._file = file

    def find(self, key: str, documents: str, *, any_documents: bool = False) -> BaselineAnswer | None:
        """The newest answer with this key from these documents; with `any_documents` else the newest with the key."""
        kept = [answer for answer in self.read() if answer.key == key]
        same = [answer for answer in kept if answer.documents == documents]
        found = same or (kept if any_documents else [])
        if not found:
            return None
        newest = found[-1]
        return BaselineAnswer(newest.text, newest.seconds, True, newest.as_of, older_documents=not same)

    def read(self) -> list[KeptAnswer]:
        """All kept answers, oldest first. Raises BaselineCacheError."""
        if not self._file.exists():
            return []
        # What stands behind the last line end was being written when its process was killed.
        whole_lines = self._file.read_bytes().split(b"\n")[:-1]
        return [self._answer(number, line) for number, line in enumerate(whole_lines, start=1)]

    def add(self, answer: KeptAnswer) -> None:
        """Append an answer; a half-written last line is dropped first."""
        with self._file.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            file.truncate(file.read().rfind(b"\n") + 1)
            file.write(answer.model_dump_json().encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def _answer(self, number: int, line: bytes) -> KeptAnswer:
        try:
            return KeptAnswer.model_validate_json(line)
        except ValidationError as error:
            fault = error.errors()[0]
            raise BaselineCacheError(
                f"{self._file.name}, line {number}: {fault['loc']!r}: {fault['msg']}; delete the line"
            ) from error


class Baseline:
    """The chain, its index built or opened. One thread at a time."""

    def __init__(
        self,
        embedder: Embedder,
        model: LanguageModel,
        *,
        cache: AnswerCache | None = None,
        sources: Sources | None = None,
    ) -> None:
        """Build the index where there is none yet for these files and this embedding; that takes minutes."""
        sources = sources or Sources()
        self._embedding = embedder.fingerprint
        self._documents = sources.digest()
        self._cache = cache or AnswerCache()
        self._model = model
        self._index = _index(embedder, sources, self._documents)

    def answer(self, question: str, turns: Sequence[str] = ()) -> BaselineAnswer:
        """The kept answer, else a new one, which is kept. Raises ModelUnavailableError, BaselineCacheError."""
        if not self._model.name:
            self._model.warm_up()  # an unnamed server tells its model with its first reply
        key = answer_key(question, turns, self._model.name, self._embedding)
        return self._cache.find(key, self._documents) or self._new_answer(key, question, tuple(turns))

    def close(self) -> None:
        """Give the files of the index back and end the model's server if it is ours."""
        _close(self._index)
        self._model.close()

    def _new_answer(self, key: str, question: str, turns: tuple[str, ...]) -> BaselineAnswer:
        start = time.perf_counter()
        # The earlier turns are searched for as well: "and 4 of them?" alone finds nothing.
        found = self._index.similarity_search("\n".join([*turns, question]), k=CHUNKS_STUFFED)
        system, user = prompt(question, turns, [document.page_content for document in found])
        try:
            text = "".join(self._model.stream(system, user, max_tokens=MAX_TOKENS, temperature=0.0)).strip()
        except ModelReplyError:
            text = ""  # the server works, and that is what the chain says
        kept = KeptAnswer(
            key=key,
            documents=self._documents,
            as_of=date.today(),
            seconds=round(time.perf_counter() - start, 2),
            model=self._model.name,
            embedding=self._embedding,
            question=question,
            turns=turns,
            text=text,
        )
        self._cache.add(kept)
        return BaselineAnswer(text, kept.seconds, False, kept.as_of)


def open_baseline(cache: AnswerCache | None = None) -> Baseline:
    """The baseline with the embedding model and the language model of the settings, which starts a server of its own."""
    return Baseline(load_embedder(), connect_model(WAIT_SECONDS), cache=cache)


def cached_answer(
    question: str,
    turns: Sequence[str] = (),
    *,
    any_documents: bool = False,
    cache: AnswerCache | None = None,
    sources: Sources | None = None,
    model: str = weights.LLM.name,
    embedding: str = DEFAULT_FINGERPRINT,
) -> BaselineAnswer | None:
    """The kept answer of the default models, or of those named; nothing is loaded. None: there is none.

    An answer from other documents or tables than today's counts only with `any_documents`, and says so
    (`older_documents`). Raises BaselineCacheError.
    """
    key = answer_key(question, turns, model, embedding)
    return (cache or AnswerCache()).find(key, (sources or Sources()).digest(), any_documents=any_documents)


def answer_key(question: str, turns: Sequence[str], model: str, embedding: str) -> str:
    """16 hex digits of all that decides an answer but the documents: models, prompt, cutting, question and turns."""
    prompts = [(text.zh, text.en) for text in (SYSTEM, HISTORY, FIRST_TURN)]
    sizes = [CHUNK_CHARACTERS, OVERLAP_CHARACTERS, CHUNKS_STUFFED, MAX_TOKENS]
    decisive = [model, embedding, prompts, sizes, NOT_SHOWN.pattern, question, list(turns)]
    return _digest([json.dumps(decisive, ensure_ascii=False).encode()])


def prompt(question: str, turns: Sequence[str], chunks: Sequence[str]) -> tuple[str, str]:
    """System and user message, in the language of the question."""
    from langchain_core.prompts import ChatPromptTemplate

    language = language_of(question)
    user = (HISTORY if turns else FIRST_TURN)[language]
    template = ChatPromptTemplate.from_messages([("system", SYSTEM[language]), ("human", user)])
    system, human = template.format_messages(
        context="\n\n".join(chunks), turns="\n".join(f"- {turn}" for turn in turns), question=question
    )
    return system.text, human.text


def load_documents(sources: Sources) -> list[Document]:
    """Every chunk of the documents and every row of the tables."""
    from langchain_core.documents import Document
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    splitter = RecursiveCharacterTextSplitter(chunk_size=CHUNK_CHARACTERS, chunk_overlap=OVERLAP_CHARACTERS)
    chunks, rows = [], []
    for path in sources.files():
        if path.suffix == ".csv":
            with path.open(encoding="utf-8", newline="") as file:
                texts = [
                    "\n".join(f"{column}: {value}" for column, value in row.items()) for row in csv.DictReader(file)
                ]
            rows += [Document(text, metadata={"source": path.name}) for text in texts]
        else:
            shown = NOT_SHOWN.sub("", path.read_text(encoding="utf-8"))
            chunks += splitter.create_documents([shown], metadatas=[{"source": path.name}])
    return chunks + rows


def _index(embedder: Embedder, sources: Sources, documents: str) -> Chroma:
    """The index of these files by this embedding; it is built beside and moved into place, so it is whole or missing."""
    root = weights.home() / "evals" / "baseline-index"
    cut = f"{CHUNK_CHARACTERS} {OVERLAP_CHARACTERS} {NOT_SHOWN.pattern}"
    folder = root / _digest([documents.encode(), embedder.fingerprint.encode(), cut.encode()])
    embeddings = _embeddings(embedder)
    if not folder.exists():
        root.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix="building-", dir=root))
        try:
            store = _open(building, embeddings)
            try:
                store.add_documents(load_documents(sources))
            finally:
                _close(store)
            building.rename(folder)
        finally:
            shutil.rmtree(building, ignore_errors=True)
    return _open(folder, embeddings)


def _open(folder: Path, embeddings: Embeddings) -> Chroma:
    import chromadb
    import langsmith
    from chromadb.config import Settings
    from langchain_chroma import Chroma

    langsmith.configure(enabled=False)  # questions go to the model server and nowhere else
    client = chromadb.PersistentClient(str(folder), settings=Settings(anonymized_telemetry=False))
    return Chroma("baseline", embeddings, client=client)


def _close(store: Chroma) -> None:
    cast("Client", store._client).close()  # the store offers no way to it


def _embeddings(embedder: Embedder) -> Embeddings:
    from langchain_core.embeddings import Embeddings

    class OurEmbeddings(Embeddings):
        """Our embedding model as LangChain wants it."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return cast("list[list[float]]", embedder.embed_passages(texts).tolist())

        def embed_query(self, text: str) -> list[float]:
            return cast("list[float]", embedder.embed_queries([text])[0].tolist())

    return OurEmbeddings()


def _digest(parts: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big") + part)
    return digest.hexdigest()[:16]
