"""Answers about the reference servers: cores, memory and height of several in all, how many of one fit a rack, and the
parts of the one talked about.

Rows of servers.csv, summed by the calculators; what one server is for is left to the documents, which say it whole.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assistant import render
from assistant.calculator.calculation import number as plain
from assistant.evidence import Finding
from assistant.ledger import Ledger
from assistant.numerals import fold, read_number
from assistant.server_words import CARD, SHORT_MEMORY, names_server, parts_asked
from assistant.understand import Request
from knowledge.reference_servers import ReferenceServer, reference_servers

MOST_SERVERS = 100_000
SAME = re.compile(r"\s*(?:[/、]|or|和|或)\s*")  # between A100/A800, the two names of one server
COUNTED_BEHIND = re.compile(r"(?:参考|服务器|配置|机器|机|的)*\s*[*x]?\s*(?P<n>\d{1,5}|[一二两三四五六七八九十]{1,3})\s*[台套]|\s*[*x]\s*(?P<m>\d{1,5})(?![\d.]*\s*(?:gb?|u|卡|gpu))")  # fmt: skip
BEFORE = re.compile(r"\s*(?:[台套个]|units?|sets?|pieces?|[*x])?\s*(?:的)?\s*(?:of)?\s*(?:the|these|those|such)?\s*(?:参考(?:服务器|配置|机)?|样板(?:服务器|机)?|reference|sample|sys-?|supermicro|超微|hgx|nvidia|[- ])*$")  # fmt: skip
RACK = re.compile(r"(?P<u>\d{1,3})\s*-?\s*u(?![a-z0-9])")
RACKED = re.compile(r"机柜|机架|rack|cabinet|[放装塞].{0,6}[几多]")
KINDS = (
    ("U", re.compile(r"[几多]少?\s?u(?![a-z])|u数|高度|多高|how (?:many (?:rack )?(?:us?|units)|tall)(?![a-z])|rack (?:space|units?)|(?:total|combined) (?:height|u)(?![a-z])")),
    ("core", re.compile(r"核|cores?(?![a-z])")),
    ("module", re.compile(r"[几多]少?[根条]|(?:how many|number of) (?:memory )?(?:modules|sticks|dimms)")),
    ("GB", re.compile(r"内存|(?<![a-z])ram(?![a-z])|(?<!gpu )memory")),
    ("CPU", re.compile(r"[几多]少?[颗个]\s?(?:cpu|处理器)(?!\s*核)|cpus?(?![a-z]|\s*的?\s*核|\s*cores?)|processors?(?! cores?)")),
)  # fmt: skip
HOW_LARGE = re.compile(
    r"内存.{0,6}(?:多大|多少(?![根条])|容量|总量|加)|(?:how much|total) (?:ram|memory)|(?:ram|memory) (?:in total|size|capacity)|(?<![a-z])(?:gb|tb)(?![a-z])"
)
IN_ALL = re.compile(
    r"一共|总共|合计|加(?:在)?一[起块]|加起来|合起来|总(?:数|量|计|和|[的]|内存|核|高|u)|共|(?<![a-z])(?:total|together|combined|altogether|in all|sum|overall)(?![a-z])"
)
APART = re.compile(
    r"分别|各自|各(?:是|有)?(?:多少|几)|(?<![a-z])(?:respectively|separately|per server|of each)(?![a-z])"
)
# 各来一台, 各两台, one of each, two each, one each of
EACH = re.compile(
    r"各[来要买上配放装]?\s*(?P<n>\d{1,5}|[一二两三四五六七八九十]{1,3})\s*[台套个]|(?:买|来|要|配)?(?P<m>\d{1,5}|[一二两三四五六七八九十]{1,3})\s*[台套]各|(?<![a-z0-9])(?P<k>\d{1,5}|an?|one|two|three|four|five|six|eight|ten) (?:(?:units?|servers?) )?(?:of )?each(?![a-z])"
)
HOW_MANY_CPUS = re.compile(r"[几多]少?[颗个]\s?(?:cpu|处理器)(?!\s*核)|how many (?:cpus?|processors?)(?! cores?)")
ALONE = re.compile(
    r"(?P<n>\d{1,5}|[二两三四五六七八九十]{1,3})\s*[台套]|(?<![a-z0-9.])(?P<m>\d{1,5}|two|three|four|five|six|seven|eight|nine|ten|twelve)\s+(?:of (?:them|those|these|it)|servers?|machines?|box(?:es)?|units?)(?![a-z])"
)
BOTH = re.compile(r"[两俩二2]\s*[台种套款个]|俩|(?<![a-z])(?:both|the two|two)(?![a-z])")
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
    """The sum over the servers named, how many fit a rack, or parts of the server talked about; None where neither is asked."""
    text = fold(request.question).text
    s = request.slots
    if s.money or s.providers or s.periods or s.models or s.parameters_b:
        return None
    goes_on = not names_server(text)  # then the turns before name the server
    if goes_on and not (request.search_text != request.question and names_server(fold(request.search_text).text)):
        return None
    asked = _asked(text)
    if RACKED.search(text) and (rack := RACK.search(text)) and len(asked) == 1 and not asked[0].counted:
        return _in_rack(asked[0].server, int(rack["u"]), book) if int(rack["u"]) else None
    meant = _counted(text, asked, fold(request.search_text).text if goes_on else "")
    kinds = _kinds(text)
    if kinds and sum(one.count for one in meant) > 1 and any(one.counted for one in meant):
        return _total(meant, kinds, book)
    parts = parts_asked(text)
    if parts and (goes_on or SHORT_MEMORY.search(text)):
        return _parts_of([one.server for one in meant] or list(reference_servers()), parts, book)
    return None


def _kinds(text: str) -> list[str]:
    """What is added up, in the order of KINDS; memory that is only counted in modules is no size."""
    found = [kind for kind, words in KINDS if words.search(text)]
    if "module" in found and "GB" in found and not HOW_LARGE.search(text):
        found.remove("GB")
    if "CPU" in found and len(found) > 1 and not HOW_MANY_CPUS.search(text):
        found.remove("CPU")
    return found


def _counted(text: str, asked: list[_Asked], before: str) -> list[_Asked]:
    """The servers with the number said for each of them or for all; `before` holds the turns before, which may name them."""
    named = asked or [_Asked(one.server, 1, counted=False) for one in _asked(before)]
    each = EACH.search(text)
    both = BOTH.search(text) is not None
    if not named and (each or both):
        named = [_Asked(server, 1, counted=False) for server in reference_servers()]
    if each and len(named) > 1:
        number = read_number((each["n"] or each["m"] or each["k"]).removeprefix("an").removeprefix("a") or "1", 0)
        count = _whole(int(number.low), exact=number.high is None) if number else None
        return [_Asked(one.server, count or 1, counted=True) for one in named]
    if len(named) > 1 and not APART.search(text):
        twice = [one for one in named if one.counted]
        if both and len(twice) == 1 and twice[0].count == len(named) and twice[0] is named[-1]:
            return [_Asked(one.server, 1, counted=True) for one in named]  # "A800和H800两台": both, not two of the last
        if not twice and (IN_ALL.search(text) or both):
            return [_Asked(one.server, one.count, counted=True) for one in named]
    if not asked and len(named) == 1 and (count := _number_alone(text)):
        return [_Asked(named[0].server, count, counted=True)]
    return named


def _number_alone(text: str) -> int | None:
    """ "买三台一共多少核", "RAM for five of them?" where the turns before name the server."""
    match = ALONE.search(text)
    number = read_number(match["n"] or match["m"], 0) if match else None
    return _whole(int(number.low), exact=number.high is None) if number else None


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


def _total(asked: Sequence[_Asked], kinds: Sequence[str], book: Ledger) -> Finding:
    marks = "".join(_cite(one.server, book) for one in asked)
    who_zh = "、".join(f"{one.count:,} 台服务器（{'/'.join(one.server.gpus)} 参考配置）" for one in asked)
    who_en = " and ".join(
        f"{one.count:,} server{'s' if one.count > 1 else ''} ({'/'.join(one.server.gpus)} reference)" for one in asked
    )
    heads, formulas = [], []
    for kind in kinds:
        parts = [{"servers": one.count, **_parts(one.server, kind)} for one in asked]
        result = book.compute("server_total", servers=parts, unit=kind)
        total, (zh, en) = f"{int(result.value):,}", NAMES[kind]
        what_zh, what_en = MULTIPLIED.get(kind, ("台数 × 每台", "servers × each"))
        heads.append(book.say(f"**{who_zh}：共 {total} {zh}**{marks}", f"**{who_en}: {total} {en} in all** {marks}"))
        formulas.append(
            f"{render.formula(result.formula.removesuffix(f' {kind}'), book.language)} {book.say(f'{zh}（{what_zh}）', f'{en} ({what_en})')}"
        )
    return book.finding("answered", "  \n".join(heads), "  \n".join(formulas))


def _parts_of(servers: Sequence[ReferenceServer], parts: Sequence[str], book: Ledger) -> Finding:
    """The parts asked for of one server or of each, as its row says them."""
    lines = []
    for server in servers:
        mark, who = _cite(server, book), "/".join(server.gpus)
        said = [_part(server, part, book) for part in parts]
        lines.append(book.say(f"**{who} 参考服务器：{'；'.join(dict.fromkeys(said))}**{mark}",
                              f"**{who} reference server: {'; '.join(dict.fromkeys(said))}** {mark}"))  # fmt: skip
    return book.finding("answered", "  \n".join(lines))


def _part(server: ReferenceServer, part: str, book: Ledger) -> str:
    if part in ("core", "memory"):
        kind = "core" if part == "core" else "GB"
        total = f"{int(book.compute('server_total', servers=[_parts(server, kind)], unit=kind).value):,}"
    if part == "core":
        return book.say(f"每颗 CPU {server.cores_per_cpu} 核，共 {total} 核", f"{server.cores_per_cpu} cores in each CPU, {total} cores in all")  # fmt: skip
    if part == "memory":
        return book.say(f"内存 {server.memory_modules} 条 {server.module_gb} GB {server.memory_kind}，共 {total} GB",
                        f"memory {server.memory_modules} modules of {server.module_gb} GB {server.memory_kind}, {total} GB in all")  # fmt: skip
    if part == "clock":
        return book.say(f"CPU 主频 {plain(server.base_ghz)} GHz，睿频（超频）{plain(server.boost_ghz)} GHz",
                        f"CPU base clock {plain(server.base_ghz)} GHz, boost {plain(server.boost_ghz)} GHz")  # fmt: skip
    if part == "CPU":
        return book.say(f"CPU 是 {server.cpus} 颗 {server.cpu}", f"CPU {server.cpus} × {server.cpu}")
    return book.say(f"机箱高 {server.rack_units}U（{server.platform}）", f"chassis {server.rack_units}U ({server.platform})")  # fmt: skip


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
        f"{'/'.join(server.gpus)} 参考服务器：平台 = {server.platform}；高度 = {server.rack_units}U；CPU = {server.cpus} 颗 {server.cpu}，每颗 {server.cores_per_cpu} 核，主频 {plain(server.base_ghz)} GHz，睿频 {plain(server.boost_ghz)} GHz；内存 = {server.memory_modules} 条 {server.module_gb} GB {server.memory_kind}",
        f"{'/'.join(server.gpus)} reference server: platform = {server.platform}; height = {server.rack_units}U; CPU = {server.cpus} × {server.cpu}, {server.cores_per_cpu} cores each, {plain(server.base_ghz)} GHz base, {plain(server.boost_ghz)} GHz boost; memory = {server.memory_modules} modules of {server.module_gb} GB {server.memory_kind}")  # fmt: skip
    return book.cite("servers.csv", book.say("参考服务器表", "reference servers"), server.source, [(server.row, text)])
