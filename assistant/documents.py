"""Answers from the documents: the passages that hold the answer, quoted with their source.

Retrieves and quotes. It writes no prose: where prose would help, the finding says so and the model is asked later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant import render
from assistant.conflicts import conflicts
from assistant.definitions import defined_first
from assistant.evidence import Citation, Finding, Language, Status
from assistant.kind_words import asks_for_secrets
from assistant.ledger import Ledger
from assistant.llm import estimated_tokens
from assistant.passage_questions import asks_of_stock, below_rated, evades
from assistant.pointing_words import points
from assistant.remembered import linked
from assistant.sentence_form import without_steering
from assistant.sentences import split_sentences
from assistant.understand import Request
from knowledge.hits import LEAST_CERTAINTY, certainty
from knowledge.index import Hit, Index, Passage
from knowledge.keywords import tokenize
from knowledge.names import all_names, normalise

CLOSE = 0.85  # a passage scoring this share of the best one is quoted beside it
GAP_SHARE = 0.95  # of its score counts for a passage that says what is not known, beside one that says something
RELATED = 0.6  # and this share, where text stands in for a row or beside a gap
WORTH_A_LOOK = 0.25  # what is not sure to answer is shown as the nearest passage, from this score on
MOST_QUOTED = 2
BUILTIN = ("documents/", "tables/")  # where the passages that ship with the product stand
OWN_WORDS = 0.5  # the least share of the question's words in a passage that answers what code refused
PROPER_WORD = re.compile(r"(?<![A-Za-z0-9./-])[A-Za-z][A-Za-z0-9]*(?:[-.][A-Za-z0-9]+)*(?![A-Za-z0-9])")
VENDOR_CLAIM = re.compile(
    r"(?:厂商|官方|厂家|英伟达|NVIDIA|AMD)[^。\n]{0,12}(?:宣称|声称|号称|宣传)|(?:据|按)(?:厂商|官方)宣传"
    r"|\b(?:vendor|maker|manufacturer|NVIDIA|AMD)(?:'s)? (?:claims?|advertises?|marketing)\b|claimed by (?:the )?(?:vendor|maker|NVIDIA|AMD)",
    re.I,
)
SLANG = frozenset({"eli5", "gr8", "m8", "l8r", "h8", "b4", "n00b", "w8"})  # words with digits that name nothing
SURELY_MEANT = 0.6  # the certainty from which a passage shows that what sounded like chat was a question
SEPARATOR = re.compile(r"\s*\|[\s|:-]+\|\s*$")
EMPTY_CELL = re.compile(r"= (?:未注明|not stated|未印|not printed)$|^(?:来源|source) = ")


def look_up(request: Request, book: Ledger, index: Index) -> Finding:
    """Quote the passages that answer; a passage about a gap makes the answer "not in the knowledge base".

    Where the question alone finds nothing sure, it is read together with the question about documents before it.
    """
    about, is_sure = _search(request, index)
    unknown = [name for name in (*request.slots.unknown, *_proper_words(request)) if not index.knows(name)]
    before = request.earlier_search or _pointed_at(request)
    if not is_sure and not unknown and before:
        together = replace(request, search_text=f"{before} {request.search_text}")
        with_before, is_sure = _search(together, index)
        about = with_before if is_sure else about
    if unknown or not is_sure:
        if about and not unknown and about[0].score >= WORTH_A_LOOK:
            return _nearest(about[0], book)
        return not_found(request, book, unknown or [name for name in _display(request) if not index.knows(name)])
    best = _best(about)
    quoted = [best] + [
        hit for hit in about if hit is not best and hit.score >= CLOSE * best.score and hit.passage.kind == "text"
    ]
    if best.passage.kind == "gap":  # beside what is not known, what is
        quoted = [best] + [hit for hit in about if hit.passage.kind == "text" and hit.score >= RELATED * best.score]
    quoted = quoted[:MOST_QUOTED]
    book.citations += [_citation(len(book.citations) + 1 + i, hit.passage) for i, hit in enumerate(quoted)]
    status: Status = "not_in_knowledge" if best.passage.kind == "gap" else "answered"
    quotes = [_quote(hit.passage, i, book.language) for i, hit in enumerate(quoted, start=1)]
    return book.finding(status, *quotes, conflicts(book.citations, book.language), wants_prose=status == "answered")


def mistaken_for_chat(request: Request, book: Ledger, index: Index) -> Finding | None:
    """The answer to what was taken for chat or mischief without certainty, where a passage surely has it; None elsewhere.

    Without certainty: the classifier was in doubt, or the turn follows one that the documents answered.
    """
    doubtful = request.decided_by == "likeliest" or bool(request.earlier_search)
    if request.intent not in ("manipulation", "off_topic") or not doubtful or evades(request.question):
        return None
    if asks_for_secrets(request.question, request.slots):
        return None
    hits = index.search(request.search_text, language=request.language, limit=8)
    about = [hit for hit in hits if hit.passage.kind != "row" and _mentions_all(hit.passage, _subjects(request))]
    if not about or certainty(hits, about[0]) < SURELY_MEANT:
        return None
    return look_up(replace(request, intent="document"), book, index)


def _search(request: Request, index: Index) -> tuple[list[Hit], bool]:
    """The hits about what the question names, best first, and whether the first surely answers."""
    first = defined_first(request.question)  # what it then asks of a card the passage about the term tells
    if below_rated(request.question):
        first = render.say(
            request.language,
            "训练为什么达不到标称算力，MFU 一般多少",
            "why does training not reach the rated TFLOPS, usual MFU",
        )
    hits = index.search(first or request.search_text, language=request.language, limit=8)
    # Which card or cloud is in stock no passage says of any: the one that says so is about all of them.
    subjects = [] if first or asks_of_stock(request.question) else _subjects(request)
    about = [hit for hit in hits if _mentions_all(hit.passage, subjects)]
    return about, bool(about) and certainty(hits, about[0]) >= LEAST_CERTAINTY


def _pointed_at(request: Request) -> str:
    """The turn before where the question names nothing and only points at what was told then: "这俩显存各多大"."""
    return request.earlier if points(request.question) and not _subjects(request) else ""


def _best(hits: Sequence[Hit]) -> Hit:
    """The best hit; a bare table row only where no text comes near it, a gap only where no text comes as near."""
    texts = [hit for hit in hits if hit.passage.kind != "row"]
    texts.sort(key=lambda hit: -hit.score * (GAP_SHARE if hit.passage.kind == "gap" else 1))
    return texts[0] if texts and texts[0].score >= RELATED * hits[0].score else hits[0]


def _nearest(hit: Hit, book: Ledger) -> Finding:
    """Nothing answers for sure: say so, and show the nearest passage as no more than that."""
    book.citations.append(_citation(len(book.citations) + 1, hit.passage))
    head = book.say(
        "知识库里没有找到确定能回答这个问题的内容。最接近的一段如下，它未必回答你的问题：",
        "The knowledge base holds nothing that surely answers this. The nearest passage, which may not answer it:",
    )
    return book.finding("not_in_knowledge", head, _quote(hit.passage, len(book.citations), book.language))


def not_found(request: Request, book: Ledger, names: Sequence[str] = ()) -> Finding:
    """Nothing in the knowledge base answers: say so, and what it does hold."""
    if names:
        shown = render.joined(dict.fromkeys(names), book.language)
        head = book.say(
            f"知识库里没有关于 {shown} 的资料，所以不回答，以免编造。",
            f"The knowledge base holds nothing about {shown}, so there is no answer rather than an invented one.",
        )
    else:
        head = book.say(
            "知识库里没有能回答这个问题的内容，所以不回答，以免编造。",
            "The knowledge base holds nothing that answers this, so there is no answer rather than an invented one.",
        )
    return book.finding("not_in_knowledge", head, book.say(
        "它收录的是：GPU 租用与购卡价格、显卡与开源模型规格、微调时长、显存与选卡建议、参考服务器、学习平台、出口限制和部署建议。",
        "It covers GPU rental and purchase prices, specifications of cards and open models, fine-tuning times, memory and card recommendations, reference servers, learning platforms, export rules and serving advice."))  # fmt: skip


def with_own(request: Request, book: Ledger, found: Finding, index: Index) -> Finding:
    """The finding of code, with what a document of the reader's own says about the question.

    Such a document may be about anything, from a vendor's terms to a rack's place, so it also answers what code refused
    as unknown or foreign; beside an answer of the tables it stands as a quotation and changes nothing.
    """
    passage = _own_passage(request, index)
    if passage is None:
        return found
    book.citations.append(_citation(len(book.citations) + 1, passage))
    quote = _quote(passage, len(book.citations), book.language)
    if found.status in ("not_in_knowledge", "off_topic"):
        return book.finding("answered", quote)
    head = book.say("你导入的文档里写着：", "Your own documents say:")
    differing = conflicts(book.citations, book.language)
    return book.finding(found.status, found.markdown, head, quote, differing, wants_prose=found.wants_prose)


def with_passage(request: Request, book: Ledger, found: Finding, index: Index) -> Finding:
    """The finding of code, and below it the passage that surely answers the question too, where there is one."""
    about, is_sure = _search(request, index)
    best = _best(about) if is_sure else None
    if best is None or best.passage.kind != "text":
        return found
    quote = cited_quote(best.passage, book)
    return book.finding(found.status, found.markdown, quote, wants_prose=found.wants_prose)


def cited_quote(passage: Passage, book: Ledger) -> str:
    """A passage as a quotation, entered among the sources of the answer."""
    book.citations.append(_citation(len(book.citations) + 1, passage))
    return _quote(passage, len(book.citations), book.language)


def _own_passage(request: Request, index: Index) -> Passage | None:
    """The passage of the reader's documents that surely answers, naming all that the question names and no row knows."""
    hits = index.search(request.search_text, language=request.language, limit=8)
    own = next((hit for hit in hits if not hit.passage.locator.startswith(BUILTIN)), None)
    if own is None or own.keyword < OWN_WORDS or certainty(hits, own) < LEAST_CERTAINTY:
        return None
    said = f"{own.passage.source} {own.passage.title} {own.passage.section} {own.passage.text}".casefold()
    named = all(name.casefold() in said for name in request.slots.unknown)
    of_each_kind = [
        [subject for subject in _subjects(request) if subject[0] == kind] for kind in ("gpu", "provider", "model")
    ]
    return own.passage if named and all(_mentions_all(own.passage, some) for some in of_each_kind) else None


def evidence_text(citations: Sequence[Citation], question: str = "", limit_tokens: int | None = None) -> str:
    """The passages as the model is shown them, without sentences that would steer it.

    Past the limit (estimated tokens) the sentences and table rows nearest to the question stay, in their order; the best
    passage's first sentence always does.
    """
    parts = [(c, _parts(without_steering(c.excerpt))) for c in citations]
    whole = "\n\n".join(f"[{c.id}] {c.title}\n{''.join(pieces).rstrip()}" for c, pieces in parts)
    if limit_tokens is None or estimated_tokens(whole) <= limit_tokens:
        return whole
    asked = frozenset(tokenize(question))
    left = limit_tokens
    kept: dict[int, list[int]] = {}
    for _, at, i in sorted(_ranked(parts, asked)):
        cost = estimated_tokens(parts[at][1][i]) + (0 if at in kept else estimated_tokens(parts[at][0].title) + 4)
        if cost <= left or not kept:
            kept.setdefault(at, []).append(i)
            left -= cost
    return "\n\n".join(
        f"[{parts[at][0].id}] {parts[at][0].title}\n{''.join(parts[at][1][i] for i in sorted(kept[at])).rstrip()}"
        for at in sorted(kept)
    )


def _parts(excerpt: str) -> list[str]:
    """The sentences and table rows of a passage; cells of a row in words ("header = value; ...") count as sentences."""
    sentences, rest = split_sentences(excerpt)
    return [piece for text in (*sentences, rest) for piece in re.split(r"(?<=；)|(?<=; )(?=\S+ =)", text) if piece]


def _ranked(parts: Sequence[tuple[Citation, Sequence[str]]], asked: frozenset[str]) -> list[tuple[float, int, int]]:
    """(rank, passage, part): a part ranks by its share of the question's words; passages come best first."""
    ranked = []
    for at, (_, pieces) in enumerate(parts):
        scores = [len(asked & frozenset(tokenize(piece))) * (1.0 if at == 0 else 0.8) for piece in pieces]
        for i, piece in enumerate(pieces):
            is_heading = piece.startswith("|") and i + 1 < len(pieces) and bool(SEPARATOR.match(pieces[i + 1]))
            is_line = bool(SEPARATOR.match(piece))  # headings stay with the rows below them
            score = max(scores) + 0.5 if is_heading or is_line else scores[i]
            ranked.append((-99.0 if (at, i) == (0, 0) else -score, at, i))
    return ranked


def _subjects(request: Request) -> list[tuple[str, str]]:
    """What the question is about, by (kind, key); providers and cards said only in earlier turns do not count."""
    said = request.said
    return (
        [("gpu", g) for g in said.gpus]
        + [("provider", p) for p in said.providers]
        + [("model", m) for m in said.models]
    )


def _proper_words(request: Request) -> list[str]:
    """Words written like names (mixtral-8x7b, GPT-4): a passage that never uses them is not about them."""
    words = PROPER_WORD.findall(normalise(request.question))
    coded = [word for word in words if any(character.isdigit() for character in word) and word.lower() not in SLANG]
    return [word for word in words if len(word) > 3] if request.intent == "memory" else coded


def _mentions_all(passage: Passage, subjects: Sequence[tuple[str, str]]) -> bool:
    """Whether the passage names what the question is about; of several cards or clouds one is enough."""
    if not subjects:
        return True
    named = {(item.kind, item.key) for item in linked(f"{passage.title} {passage.section} {passage.text}")}
    return any(subject in named for subject in subjects)


def _display(request: Request) -> list[str]:
    keys = {*request.said.gpus, *request.said.providers, *request.said.models}
    return [name.zh if request.language == "zh" else name.en for name in all_names() if name.key in keys]


def _citation(number: int, passage: Passage) -> Citation:
    title = passage.title if passage.section in ("", passage.title) else f"{passage.title} · {passage.section}"
    if not passage.locator.startswith(BUILTIN):  # a file of the reader's: where in it, by heading, page, sheet and row
        title = passage.locator.removeprefix(passage.source).lstrip(" ,§")
    return Citation(
        id=number,
        title=title,
        source=passage.source,
        locator=passage.locator,
        excerpt=passage.text,
        as_of=passage.as_of,
    )


def _quote(passage: Passage, number: int, language: Language) -> str:
    heading = passage.section or passage.title
    claimed = bool(VENDOR_CLAIM.search(passage.text))
    text = passage.text
    if passage.kind == "row":  # cells that state nothing are noise to a reader
        text = "; ".join(cell for cell in text.split("; ") if not EMPTY_CELL.search(cell))
    label = render.say(language, "（厂商宣称，不是实测）", " (vendor claim, not measured)") if claimed else ""
    lines = [f"**{heading}** [{number}]{label}", "", *text.splitlines()]
    return "\n".join(f"> {line}".rstrip() for line in lines)
