"""Answers about several reference servers: cores, memory and height in all, and how many of one fit a rack.

Sums of rows of servers.csv by the calculators; what one server has is left to the documents, which say it whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant import render
from assistant.evidence import Finding
from assistant.kind_words import REFERENCE_SERVER
from assistant.ledger import Ledger
from assistant.numerals import fold, read_number
from assistant.understand import Request
from knowledge.reference_servers import ReferenceServer, reference_servers

MOST_SERVERS = 100_000
CARD = re.compile(r"(?<![a-z0-9])(?:[ah][18]00|420gp|821ge)(?:-tn[ah]r)?(?![a-z0-9])")
SAME = re.compile(r"\s*(?:[/、]|or|和|或)\s*")  # between A100/A800, the two names of one server
COUNTED_BEHIND = re.compile(r"(?:参考|服务器|配置|机器|机|的)*\s*[*x]?\s*(?P<n>\d{1,5}|[一二两三四五六七八九十]{1,3})\s*[台套]|\s*[*x]\s*(?P<m>\d{1,5})(?![\d.]*\s*(?:gb?|u|卡|gpu))")  # fmt: skip
BEFORE = re.compile(r"\s*(?:[台套个]|units?|sets?|pieces?|[*x])?\s*(?:的)?\s*(?:of)?\s*(?:the|these|those|such)?\s*(?:参考(?:服务器|配置|机)?|样板(?:服务器|机)?|reference|sample|sys-?|supermicro|超微|hgx|nvidia|[- ])*$")  # fmt: skip
RACK = re.compile(r"(?P<u>\d{1,3})\s*-?\s*u(?![a-z0-9])")
RACKED = re.compile(r"机柜|机架|rack|cabinet|[放装塞].{0,6}[几多]")
KINDS = (
    ("U", re.compile(r"[几多]少?\s?u(?![a-z])|u数|how many (?:rack )?(?:u|units)(?![a-z])|rack (?:space|units)|total (?:height|u)(?![a-z])")),
    ("core", re.compile(r"核|cores?(?![a-z])")),
    ("module", re.compile(r"[几多]少?[根条]|(?:how many|number of) (?:memory )?(?:modules|sticks|dimms)")),
    ("GB", re.compile(r"内存|(?<![a-z])ram(?![a-z])|(?<!gpu )memory")),
    ("CPU", re.compile(r"[几多]少?[颗个]\s?(?:cpu|处理器)|cpus?(?![a-z])|processors?")),
)  # fmt: skip
NAMES = {
    "core": ("CPU 核", "CPU cores"), "GB": ("GB 内存", "GB of memory"), "U": ("U", "U of rack height"),
    "CPU": ("颗 CPU", "CPUs"), "module": ("条内存", "memory modules"),
}  # fmt: skip

MULTIPLIED = {
    "core": ("台数 × 每台颗数 × 每颗核数", "servers × CPUs in each × cores of one"),
    "GB": ("台数 × 每台条数 × 每条容量", "servers × modules in each × size of one"),
}


@dataclass(frozen=True)
class _Asked:
    """A reference server and how many of it; `counted` where the number was said."""

    server: ReferenceServer
    count: int
    counted: bool


def servers(request: Request, book: Ledger) -> Finding | None:
    """The sum over the servers named, or how many fit a rack; None where no such sum is asked."""
    text = fold(request.question).text
    s = request.slots
    if not REFERENCE_SERVER.search(text) or s.money or s.providers or s.periods or s.models or s.parameters_b:
        return None
    asked = _asked(text)
    if RACKED.search(text) and (rack := RACK.search(text)) and len(asked) == 1 and not asked[0].counted:
        return _in_rack(asked[0].server, int(rack["u"]), book) if int(rack["u"]) else None
    kind = next((kind for kind, words in KINDS if words.search(text)), None)
    if kind is None or sum(one.count for one in asked) < 2 or not any(one.counted for one in asked):
        return None
    return _total(asked, kind, book)


def _asked(text: str) -> list[_Asked]:
    """Each server named once, with the number that stands before or behind its name; one where none does."""
    found: dict[str, _Asked] = {}
    end = 0
    for match in CARD.finditer(text):
        server = _named(match.group())
        between, end_before = text[end : match.start()], end
        end = match.end()
        if server.id in found and (SAME.fullmatch(between) or not _number_before(text, end_before, match.start())):
            continue
        count = _number_before(text, end_before, match.start()) or _number_behind(text, match.end())
        before = found[server.id].count if server.id in found else 0
        found[server.id] = _Asked(server, before + (count or 1), count is not None)
    return list(found.values())


def _named(word: str) -> ReferenceServer:
    return next(
        server for server in reference_servers()
        if any(gpu.lower() == word for gpu in server.gpus) or server.platform.lower().startswith(f"sys-{word[:5]}")
    )  # fmt: skip


def _number_before(text: str, start: int, end: int) -> int | None:
    """The number whose words end where a server's name begins: 两台, "three of the"."""
    for at in range(start, end):
        if at > start and text[at - 1].isalnum() and text[at].isascii():
            continue  # inside a word
        number = read_number(text, at)
        if number and number.style != "article" and number.end <= end and BEFORE.fullmatch(text[number.end : end]):
            return _whole(int(number.low), exact=number.low == int(number.low) and number.high is None)
    return None


def _number_behind(text: str, at: int) -> int | None:
    """H800 参考机 3 台."""
    match = COUNTED_BEHIND.match(text, at)
    number = read_number(match["n"] or match["m"], 0) if match else None
    return _whole(int(number.low), exact=True) if number else None


def _whole(count: int, *, exact: bool) -> int | None:
    return count if exact and 1 <= count <= MOST_SERVERS else None


def _total(asked: Sequence[_Asked], kind: str, book: Ledger) -> Finding:
    marks = "".join(_cite(one.server, book) for one in asked)
    parts = [{"servers": one.count, **_parts(one.server, kind)} for one in asked]
    result = book.compute("server_total", servers=parts, unit=kind)
    total, (zh, en) = f"{int(result.value):,}", NAMES[kind]
    who_zh = "、".join(f"{one.count:,} 台服务器（{'/'.join(one.server.gpus)} 参考配置）" for one in asked)
    who_en = " and ".join(
        f"{one.count:,} server{'s' if one.count > 1 else ''} ({'/'.join(one.server.gpus)} reference)" for one in asked
    )
    what_zh, what_en = MULTIPLIED.get(kind, ("台数 × 每台", "servers × each"))
    return book.finding(
        "answered",
        book.say(f"**{who_zh}：共 {total} {zh}**{marks}", f"**{who_en}: {total} {en} in all** {marks}"),
        f"{render.formula(result.formula.removesuffix(f' {kind}'), book.language)} {book.say(f'{zh}（{what_zh}）', f'{en} ({what_en})')}",
    )


def _parts(server: ReferenceServer, kind: str) -> dict[str, int]:
    """How many parts of one server, and what each of them adds."""
    return {
        "core": {"parts": server.cpus, "each": server.cores_per_cpu},
        "GB": {"parts": server.memory_modules, "each": server.module_gb},
        "U": {"parts": 1, "each": server.rack_units},
        "CPU": {"parts": server.cpus, "each": 1},
        "module": {"parts": server.memory_modules, "each": 1},
    }[kind]


def _in_rack(server: ReferenceServer, rack_units: int, book: Ledger) -> Finding:
    mark = _cite(server, book)
    result = book.compute("servers_in_rack", rack_units=rack_units, units_per_server=server.rack_units)
    whole, left = int(result.value), int(result.outputs["rack_units_left"])
    return book.finding(
        "answered",
        book.say(f"**{rack_units}U 机柜光按高度最多放 {whole} 台服务器**（{server.platform}，每台 {server.rack_units}U，余 {left}U）{mark}",
                 f"**By height alone a {rack_units}U rack holds {whole} server{'' if whole == 1 else 's'}** ({server.platform}, {server.rack_units}U each, {left}U left) {mark}"),
        book.say(f"{result.formula}。没有算机柜的供电、散热和承重，实际往往先被它们限制；文章没有写参考服务器的功耗。",
                 f"{result.formula}. Power, cooling and weight of the rack are left out and often limit it first; the articles do not state what the reference servers draw."),
    )  # fmt: skip


def _cite(server: ReferenceServer, book: Ledger) -> str:
    text = book.say(
        f"{'/'.join(server.gpus)} 参考服务器：平台 = {server.platform}；高度 = {server.rack_units}U；CPU = {server.cpus} 颗 {server.cpu}，每颗 {server.cores_per_cpu} 核；内存 = {server.memory_modules} 条 {server.module_gb} GB {server.memory_kind}",
        f"{'/'.join(server.gpus)} reference server: platform = {server.platform}; height = {server.rack_units}U; CPU = {server.cpus} × {server.cpu}, {server.cores_per_cpu} cores each; memory = {server.memory_modules} modules of {server.module_gb} GB {server.memory_kind}")  # fmt: skip
    return book.cite("servers.csv", book.say("参考服务器表", "reference servers"), server.source, [(server.row, text)])
