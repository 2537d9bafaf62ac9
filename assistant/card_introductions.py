"""What a card is: "H100 是什么", "T4 是什么卡", "what is an L40S?": its row in a few figures, and what the articles say it is for.

Rows and quotations only. A question that names a figure, a price or a job of the card is other modules' business.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assistant import render
from assistant.definitions import defined_names
from assistant.documents import cited_quote
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.reading import Slots
from assistant.remembered import linked
from assistant.specs import value
from assistant.understand import Request
from knowledge.card_forms import Marks, matching
from knowledge.hardware import Gpu
from knowledge.hardware_cells import gpu_cells
from knowledge.index import Index
from knowledge.names import Link, link, normalise

MOST_CARDS = 4
MOST_HITS = 24
USES = ("documents/which-card.", "documents/h100-vs-a100.")  # where the articles say what a card is for
COLUMNS = ("memory", "bandwidth_gb_per_s", "fp32_tflops", "fp16_tflops", "bf16_tflops", "fp8_tflops", "tdp_w", "interconnect")  # fmt: skip
# Beside the forms of definitions.py: what kind of card it is, and to be told of it.
KIND_ZH = r"(?:什么|啥|哪种|怎样的?|怎么样的?|什么样的?)(?:类型|级别|档次|水平|定位|型号|牌子)?的?"
CARD_ZH = r"(?:显?卡|gpu|芯片|加速卡|计算卡|东西|型号|产品|级别|档次|定位|水平)"
CARD_EN = r"(?:cards?|gpus?|chips?|accelerators?|thing)"
ASKS = tuple(re.compile(words, re.I) for words in (
    rf"\W*(?:请问|那么?|所以)?[,，\s]*(?P<term>.+?)\s*(?:这[张款个块]?卡?)?(?:又|到底|究竟|都)?(?:是|算|属于)(?:一?[张款个种块])?{KIND_ZH}{CARD_ZH}(?:[来着啊呀呢吗]|来着)*\W*",
    r"\W*(?:(?:please|can you|could you)\s+)?(?:tell me (?:a bit |something |more |a little )?about|introduce|give me (?:an? )?(?:intro(?:duction)?|overview|summary) (?:to|of)|what do you know about)\s+(?P<term>.+?)(?: please)?\W*",
    rf"\W*(?:what|which) (?:kind|sort|type|class) of (?:an? )?{CARD_EN} (?:is|are) (?P<term>.+?)\W*",
    rf"\W*what(?:'s| is| are) (?P<term>.+?) {CARD_EN}\W*",
))  # fmt: skip
SEVERAL = tuple(re.compile(words, re.I) for words in (
    r"(?P<term>.+?)\s*(?:分别|各自|各|都|到底|究竟)*是\s*(?:什么|啥)(?:东西|来着|[啊呀呢])?\W*",
    r"what(?:'s| are| is) (?P<term>.+?)\W*",
))  # fmt: skip
OPINION = re.compile(
    r"(?P<term>.+?)\s*(?:这[张款个块]?卡?)?(?:到底|究竟)?(?:怎么样|咋样|好不好|好用吗|好用不|行不行)[啊呀呢]?\W*|"
    r"(?:how(?:'s| is| good is)|is|are) (?P<term_en>.+?)(?: any good| (?:a )?(?:good|decent)(?: (?:card|gpu))?)?\W*",
    re.I,
)
USE = re.compile(
    r"(?P<term>.+?)\s*(?:这[张款个块]?卡?)?(?:主要|一般|最|比较)?(?:适合|能|可以|用来|拿来|有|是(?=(?:用来|拿来)?[做干]))(?:用来|拿来)?(?:(?:做|干|跑)?(?:什么|啥|哪些|哪种)(?:用途?|事情?|任务|场景|活)?|干嘛|做甚么)(?:用?的|用)?[啊呀呢]?\W*|"
    r"what(?:'s| is| are) (?P<term_en>.+?) (?:(?:mostly |mainly |best )?(?:good|used|suited|meant|made|best|suitable) for)\W*|what (?:can|do|should) (?:i|you|one|people) (?:do with|use) (?P<term_do>.+?)(?: for)?\W*",
    re.I,
)
# The next card after one that was told of: "那 A100 呢", "and the A100?".
WHAT_ABOUT = re.compile(
    r"(?:那么?|还有|再说)?\s*(?P<term>.+?)\s*呢\W*|(?:and|what about|how about)\s+(?P<term_en>.+?)\W*", re.I
)
BETWEEN = re.compile(r"\s*(?:和|与|跟|、|,|，|/|(?<![a-z])and(?![a-z]))\s*", re.I)
AROUND = re.compile(
    r"^(?:(?:an?|the|this|nvidia)\s+|英伟达的?\s*|这[张款个块]?\s*)|\s*(?:显?卡|gpus?|cards?|这[张款个块]?卡?|分别|各自?|都|\d{2,3}\s*g(?:i?b)?(?:版本?|的)?)$",
    re.I,
)


def introduced(request: Request, book: Ledger, index: Index) -> Finding | None:
    """The cards that the whole question asks about and nothing else; None for any other question, or cards without a row."""
    keys = _asked(request)
    forms = {key: _forms(key, request, book) for key in keys}
    if not keys or not all(forms.values()):
        return None
    heads = [_head(key, forms[key], book) for key in keys]
    many = [form for key in keys for form in forms[key]]
    table = _table(many, book) if len(many) > 1 else ""
    dense = book.say("TFLOPS 和 TOPS 都是稠密值。", "TFLOPS and TOPS are dense.")
    uses = _uses(request, keys, book, index)
    row = ["  \n".join(heads), table, dense]
    if not USE.fullmatch(normalise(request.question).strip()):
        return book.finding("answered", *row, *uses)
    unknown = book.say(
        "文章没有说它适合做什么；上面是规格。", "The articles do not say what it is for; above is what its row says."
    )
    return book.finding("answered", *uses, *row, "" if uses else unknown)


def _asked(request: Request) -> tuple[str, ...]:
    """Keys of the cards that are all the question names."""
    s = request.slots
    alone = replace(s, gpus=(), forms=(), memory_gb=(), unknown=(), items=(), about=(), count=None)
    if not s.gpus or s.unknown or alone != Slots() or request.said.gpus != s.gpus or len(s.gpus) > MOST_CARDS:
        return ()
    if (again := WHAT_ABOUT.fullmatch(normalise(request.question).strip())) and _introduces(request.earlier):
        named = _all_names(again["term"] or again["term_en"])
    else:
        named = _introduces(request.question)
    return tuple(item.key for item in named)


def _introduces(question: str) -> tuple[Link, ...]:
    """The cards that a question wants to be told of; empty for any other question."""
    text = normalise(question).strip()
    terms = [match["term"] for form in (*ASKS, *SEVERAL) if (match := form.fullmatch(text))]
    asked = [defined_names(text), *(_all_names(term) for term in terms)]
    for form in (OPINION, USE):  # of several cards these ask which is the better, and for what
        terms = [term for match in [form.fullmatch(text)] if match for term in match.groupdict().values() if term]
        asked += [found for term in terms if len(found := _all_names(term)) == 1]
    named: tuple[Link, ...] = next((names for names in asked if names), ())
    return named if all(item.kind == "gpu" for item in named) else ()


def _all_names(term: str) -> tuple[Link, ...]:
    """The names that make up all of a term: "the T4", "H100 和 A100 分别"; empty where anything else is in it."""
    found = [(words, link(words)) for words in (_bare(part) for part in BETWEEN.split(term)) if words]
    whole = all(len(names) == 1 and names[0].end - names[0].start == len(words) for words, names in found)
    return tuple(names[0] for _, names in found) if whole else ()


def _bare(words: str) -> str:
    """The words without articles and "this card" around them."""
    while (bare := AROUND.sub("", words).strip()) != words:
        words = bare
    return words


def _forms(key: str, request: Request, book: Ledger) -> tuple[Gpu, ...]:
    """The forms that the question names, else those that are sold as they were made."""
    named = [gpu for name in request.slots.forms if (gpu := book.catalog.gpu(name)) and key in gpu.families]
    every = [gpu for gpu in book.catalog.gpus_of(key) if gpu.family == key] or list(book.catalog.gpus_of(key))
    sizes = request.slots.memory_gb
    sized = matching(key, Marks(sizes=sizes)) if sizes else ()
    every = [gpu for gpu in every if gpu.name in sized] or every
    stock = [gpu for gpu in every if not gpu.variant]
    return tuple(named or stock or every)


def _head(key: str, forms: Sequence[Gpu], book: Ledger) -> str:
    """One line: whose card of which generation and year, with its figures where there is one form."""
    first = forms[0]
    name = first.name if len(forms) == 1 else render.name("gpu", key, book.language)
    mark = "".join(book.cite_gpu(form) for form in forms)
    made = [first.vendor, *([first.architecture] if first.architecture else [])]
    years = [form.release_year for form in forms if form.release_year]
    year, several = min(years, default=0), len(set(years)) > 1  # later forms come out later
    out = book.say(f"{'最早 ' if several else ''}{year} 年发布", f"{'first ' if several else ''}released in {year}")
    who = book.say(f"{made[0]} 的{f' {made[1]} 架构' if made[1:] else ''} GPU", f"a GPU by {made[0]}{f' of the {made[1]} generation' if made[1:] else ''}")  # fmt: skip
    said = book.say("，", ", ").join([who, *([out] if years else [])])
    opened = book.say(f"**{name}**：{said}", f"**{name}**: {said}")
    if len(forms) > 1:
        return opened + book.say(f"，有不止一种形态{mark}。", f"; it comes in more than one form {mark}.")
    cells = [f"{_label(first, column, book)} {found}" for column in COLUMNS if (found := value(first, column, book))]
    return opened + book.say(f"；{'，'.join(cells)}{mark}。", f"; {', '.join(cells)} {mark}.")


def _label(gpu: Gpu, column: str, book: Ledger) -> str:
    return next(book.say(*cell.label) for cell in gpu_cells(gpu) if cell.column == column)


def _table(forms: Sequence[Gpu], book: Ledger) -> str:
    """The forms side by side, with the figures that any of them has."""
    missing = book.say("未知", "not known")
    shown = [column for column in COLUMNS if any(value(form, column, book) for form in forms)]
    rows = [[_label(forms[0], column, book), *(value(form, column, book) or missing for form in forms)] for column in shown]  # fmt: skip
    return render.table([book.say("规格", "Specification"), *(form.name for form in forms)], rows)


def _uses(request: Request, keys: Sequence[str], book: Ledger, index: Index) -> list[str]:
    """The passage that says what the first of the cards is for, where the articles say it."""
    name = render.name("gpu", keys[0], book.language)
    asked = book.say(
        f"{name} 适合做什么用，什么场景选 {name}", f"what is the {name} good for, when to choose an {name}"
    )
    hits = index.search(asked, language=request.language, limit=MOST_HITS)
    for hit in hits:
        passage = hit.passage
        said = {item.key for item in linked(f"{passage.section} {passage.text}") if item.kind == "gpu"}
        if passage.kind == "text" and passage.locator.startswith(USES) and keys[0] in said:
            return [cited_quote(passage, book)]
    return []
