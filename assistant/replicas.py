"""Answers about the copies of a service that a load takes, where the reader states what one copy does.

Needs no model and no card: the load and the measured rate are both in the question.
"""

from __future__ import annotations

import re
from decimal import Decimal

from assistant import render
from assistant.calculator.calculation import number
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.numerals import fold
from assistant.understand import Request
from knowledge.names import normalise

ASKED = re.compile(
    r"replica|copies|instances?\b|副本|实例|几[张台个块份路]|多少[张台个块份]|how many|n\s*\+\s*\d", re.I
)
RATE = re.compile(
    r"(\d[\d,]*(?:\.\d+)?)\s*(?P<unit>(?:output |generated )?(?:tokens?|toks?|词元)\s*(?:/|per|每|a|each)\s*(?:s(?:ec(?:ond)?)?|秒)|(?:tps|t/s)\b|qps\b|rps\b|"
    r"(?:requests?|reqs?|请求|个请求)\s*(?:/|per|每|a)\s*(?:s(?:ec(?:ond)?)?|秒))|每秒钟?\s*(?:要|需要?|得|能|可以?|大?约|实测|输出|生成|处理|产出|吐出?|出|跑|扛|达到?|有|是|为){0,4}\s*(\d[\d,]*(?:\.\d+)?)\s*(?:个|次)?\s*(?P<unit2>tokens?|词元|请求)",
    re.I,
)
OF_COPY = re.compile(
    r"replica|copy|副本|实例|instance|(?:one|each|per|a|1|single) (?:server|gpu|card|node|box)|单卡|每[张台卡]|一[张台]|单机|每个(?:节点|服务)|单实例",
    re.I,
)
OF_USER = re.compile(
    r"each|per (?:user|person|stream|session)|apiece|a user|每人|每个?用户|每路|人均|每位|单用户", re.I
)
NO_COPY_BEHIND = re.compile(r"[,，;；。?？]|\.(?!\d)|\band\b", re.I)
SPARE = re.compile(r"n\s*\+\s*(\d)", re.I)
BACKUP = re.compile(
    r"[留备][一1][个台张份]|[一1][个台份]?(?:做|当|作)?(?:备用|备份|备机|冗余)|one spare|a spare|(?:one|1) (?:more )?(?:(?:for|as|on) )?(?:an? )?(?:backup|stand-?by|spare)|冗余[一1][个台份]",
    re.I,
)
LOAD = re.compile(
    r"(\d{1,2}(?:\.\d+)?)\s*%\s*(?:的)?(?:利用率|负载|水位|load|utili[sz]ation|busy|headroom)|(?:利用率|负载|水位|load|utili[sz]ation)\D{0,6}(\d{1,2}(?:\.\d+)?)\s*%",
    re.I,
)
MARGIN = re.compile(
    r"(\d{1,2})\s*%\s*(?:的)?(?:余量|冗余|headroom|margin)|(?:余量|冗余|headroom|margin)\D{0,4}(\d{1,2})\s*%", re.I
)


def replicas(request: Request, book: Ledger) -> Finding | None:
    """ceil(load / what one copy does), and spare copies where N+1 is asked; None where not both rates are stated."""
    text = fold(normalise(request.search_text)).text
    if not ASKED.search(text):
        return None
    found = [(m, Decimal((m[1] or m[3]).replace(",", "")), _is_tokens(m)) for m in RATE.finditer(text)]
    copy = [each for each in found if OF_COPY.search(_clause(text, each[0]))]
    others = [each for each in found if each not in copy]
    if len(copy) != 1 or not others or copy[0][1] <= 0:
        return None
    demand = [each for each in others if each[2] == copy[0][2]]
    if len(demand) != 1 or demand[0][1] <= 0:
        return None
    users = Decimal(request.slots.workload.concurrency or 1)
    each = users > 1 and (OF_USER.search(_clause(text, demand[0][0])) or demand[0][2])
    total = _total_said(text, demand[0][0])
    return _counted(users if each and not total else Decimal(1), demand[0][1], copy[0][1], copy[0][2], text, book)


def _is_tokens(match: re.Match[str]) -> bool:
    unit = (match["unit"] or match["unit2"]).lower()
    return not unit.startswith(("q", "r", "请求", "个"))


def _clause(text: str, match: re.Match[str]) -> str:
    """The words around a rate, up to the next comma on either side."""
    start = max((m.end() for m in NO_COPY_BEHIND.finditer(text, 0, match.start())), default=0)
    end = NO_COPY_BEHIND.search(text, match.end())
    return text[start : end.start() if end else len(text)]


def _total_said(text: str, match: re.Match[str]) -> bool:
    return bool(
        re.search(r"总共|合计|一共|总吞吐|峰值|total|in all|altogether|aggregate|peak", _clause(text, match), re.I)
    )


def _counted(users: Decimal, each: Decimal, one: Decimal, is_tokens: bool, text: str, book: Ledger) -> Finding:
    spare = SPARE.search(text)
    extra = int(spare[1]) if spare else int(bool(BACKUP.search(text)))
    load, margin = LOAD.search(text), MARGIN.search(text)
    share = (
        Decimal(load[1] or load[2]) / 100
        if load
        else 1 - Decimal(margin[1] or margin[2]) / 100
        if margin
        else Decimal(1)
    )
    result = book.compute(
        "replicas_needed", users=users, rate_per_user=each, rate_per_replica=one, load=share, spare=extra
    )
    out = result.outputs
    total, base, busy = int(out["replicas"]), int(out["replicas_for_load"]), out["busy_percent"]
    unit = "tokens/s" if is_tokens else book.say("请求/秒", "requests/s")
    demand = number(Decimal(out["demand_per_second"]))
    more = (
        book.say(f"（{base:,} 个承担负载，{extra} 个备用）", f" ({base:,} for the load and {extra} spare)")
        if extra
        else ""
    )
    head = book.say(f"**要 {total:,} 个副本**{more}：负载共 {demand} {unit}，一个副本 {number(one)} {unit}。",
                    f"**{total:,} {'replica' if total == 1 else 'replicas'}**{more}: the load is {demand} {unit}, one replica does {number(one)} {unit}.")  # fmt: skip
    note = book.say(f"{base:,} 个副本时平均负载 {busy} %；用的是你给的吞吐量，请确认它是在同样的并发下测得的。",
                    f"With {base:,} the copies are {busy} % busy on average; the rate is yours: make sure it was measured at that concurrency.")  # fmt: skip
    return book.finding("answered", head + "  \n" + render.formula(result.formula, book.language), note)
