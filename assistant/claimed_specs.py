"""A card's memory that the question takes for granted ("T4 是 24G 的，对吧", "my boss says the T4 has 24 GB"): right or not.

Says which, and gives the row's figure; the claim itself is never a figure of the answer. Other columns are specs.py's.
"""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

from assistant import render
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.specs import specs
from assistant.understand import Request
from knowledge.names import normalise

CLAIMS = re.compile(
    r"对吧|对吗|对不对|是吧|是吗|是不是|没错吧|吧[?？。!！]?$|明明|听说|据说|记得|印象|[说讲]|改口|改过来|更正|不许|必须|承认|确认|记住|以.{0,6}为准|"
    r"(?<![a-z])(?:right|correct|confirm|isn't it|doesn't it|i (?:heard|read|remember|think|thought)|says?|said|told|claims?|just say|say yes|wrong|stop saying|from now on|remember|admit)(?![a-z])",
    re.I,
)
HAS = re.compile(
    r"(?:是|有|就是|为|按|带|才|只有)\s*(?:个|的)?\s*\d+(?:\.\d+)?\s*(?:g|gb|gib|个g)(?![a-z])|"
    r"(?<![a-z])(?:has|have|had|is|it's|comes? with|got|as|not)\s+(?:only |just |really |about )?\d+(?:\.\d+)?\s*-?\s*(?:g|gb|gib|gigs?|gigabytes?)(?![a-z])",
    re.I,
)
ASKED_ELSE = re.compile(r"够|放得下|跑|装|租|买|价|钱|(?<![a-z])(?:enough|fit|fits|run|runs|train|rent|buy|price|cost|much)(?![a-z])", re.I)  # fmt: skip


def claimed_memory(request: Request, book: Ledger) -> Finding | None:
    """Whether the one card of the question has the memory that is claimed, and what it has; None where none is claimed."""
    said = _claimed(request)
    if said is None:
        return None
    key = request.slots.gpus[0]
    forms = [form for form in book.catalog.gpus_of(key) if form.memory]
    words = book.say(
        f"{render.name('gpu', key, 'zh')} 显存", f"GPU memory (VRAM) of the {render.name('gpu', key, 'en')}"
    )
    slots = replace(request.slots, memory_gb=(), forms=())
    asked = replace(request, question=words, search_text=words, intent="document", slots=slots)
    found = specs(asked, book) if forms else None
    if found is None:
        return None
    right = any(form.memory and form.memory.low <= said <= form.memory.high for form in forms)
    several = len({form.memory for form in forms}) > 1
    head = (
        book.say("**有这种形态**，各形态如下：", "**Yes, one of its forms has that**; all forms:")
        if right and several
        else book.say("**对，和规格表一致。**", "**Yes, that is what the specification says.**")
        if right
        else book.say(
            "**不对，和规格表不符**，以规格表为准：", "**No, that is not what the specification says**, which is:"
        )
    )
    return found.model_copy(update={"markdown": render.paragraphs(head, found.markdown)})


def _claimed(request: Request) -> Decimal | None:
    """The memory in GB said of the one card, where nothing else is asked."""
    s, text = request.slots, normalise(request.question)
    beside = s.models or s.workloads or s.parameters_b or s.money or s.price_per_hour or s.periods or s.providers or s.count or s.methods  # fmt: skip
    values = set(s.memory_gb)
    if len(s.gpus) != 1 or len(values) != 1 or beside or s.unknown:
        return None
    told = HAS.search(text) and CLAIMS.search(text) and not ASKED_ELSE.search(text)
    return next(iter(values)) if told else None
