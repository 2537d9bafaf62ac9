"""The price rows of an answer as one table: another currency, per hour, day or month, cheapest rows only, bars of a chart.

It shows the rows that the answer looked up and no others. Currencies are compared only at a stated, dated rate; a slice
is never the cheapest of whole cards. It knows no adapter and draws nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from pydantic import JsonValue

from assistant import board_words as words
from assistant.agreed_rate import agreed_rate
from assistant.board_amounts import HOURS, BoardRow, DatedRate, Per, PerGpu, Rates, per_gpu, rows_of, steps
from assistant.board_words import Bar, BoardTable
from assistant.evidence import Answer, Call, Language
from knowledge.catalog import load_catalog

__all__ = ["Bar", "Board", "BoardTable", "Per", "board_of"]


@dataclass(frozen=True)
class Shown:
    """What a view shows: amounts grouped by currency, cheapest first in each, slices last; the places of the cheapest."""

    amounts: tuple[PerGpu, ...]
    cheapest: tuple[int, ...]
    other_providers: int
    dearer: int


@dataclass(frozen=True)
class Board:
    """The different price rows of one answer, and the rates that they may be converted at."""

    rows: tuple[BoardRow, ...]
    rates: Rates

    @property
    def providers(self) -> tuple[str, ...]:
        """Keys of the providers that have a row, in the order of the answer."""
        return tuple(dict.fromkeys(row.provider for row in self.rows))

    @property
    def currencies(self) -> tuple[str, ...]:
        """Codes of the currencies that the rows state, in the order of the answer."""
        return tuple(dict.fromkeys(row.currency for row in self.rows))

    def table(
        self, currency: str, per: Per, cheapest_only: bool, language: Language, providers: Collection[str] = (),
        *, today: date | None = None,
    ) -> BoardTable:  # fmt: skip
        """The rows as this view wants them. `currency` "" leaves each in its own; no `providers` means all of them."""
        shown = self._shown(currency, per, cheapest_only, providers)
        if not shown.amounts:
            return BoardTable((), (), (), (words.nothing_left(providers, len(self.rows), language),))
        headings, rows = words.cells(shown.amounts, shown.cheapest, per, language, today or date.today())
        said = words.sentences(
            shown.amounts, shown.cheapest, self.rates, currency, providers,
            (shown.other_providers, shown.dearer), language,
        )  # fmt: skip
        return BoardTable(headings, rows, shown.cheapest, said)

    def bars(
        self, currency: str, per: Per, cheapest_only: bool, language: Language, providers: Collection[str] = (),
    ) -> tuple[Bar, ...]:  # fmt: skip
        """The rows of `table` with the same arguments, in its order, to be drawn."""
        shown = self._shown(currency, per, cheapest_only, providers)
        return tuple(words.bar(a, i in shown.cheapest, self.rates, language) for i, a in enumerate(shown.amounts))

    def calls(
        self, currency: str, per: Per, cheapest_only: bool, language: Language, providers: Collection[str] = (),
    ) -> tuple[Call, ...]:  # fmt: skip
        """The evidence of what `table` prints beyond the answer's own calls: amounts, rates, hours, formulas, counts."""
        shown = self._shown(currency, per, cheapest_only, providers)
        counts: dict[str, JsonValue] = {
            "rows": len(self.rows), "shown": len(shown.amounts), "left_out": shown.dearer,
            "other_providers_rows": shown.other_providers,
        }  # fmt: skip
        counted = Call(tool="count_rows", arguments={"table": "offers.csv"}, result=counts)
        if not shown.amounts:
            return (counted,)
        prices: list[JsonValue] = [
            {"provider": a.row.provider, "gpu": a.row.gpu, "price_per_gpu": float(a.shown), "unit": f"{a.currency}/{a.per}"}
            for a in shown.amounts
        ]  # fmt: skip
        hours: dict[str, JsonValue] = {f"hours_per_{unit}": int(HOURS[unit]) for unit in ("day", "month")}
        formulas = [steps(shown.amounts[i], self.rates, "en") for i in words.worked_out(shown.amounts, shown.cheapest)]
        used = [self.rates[code] for code in words.rates_used(shown.amounts, currency)]
        said = (words.rate_words(used, language),) if used else ()
        arguments: dict[str, JsonValue] = {"currency": currency, "per": per, **hours}
        board = Call(tool="price_board", arguments=arguments, result=prices, formula="; ".join(formulas) or None, assumptions=said)  # fmt: skip
        return counted, board

    def _shown(self, currency: str, per: Per, cheapest_only: bool, providers: Collection[str]) -> Shown:
        wanted = [row for row in self.rows if not providers or row.provider in providers]
        amounts = _in_order([per_gpu(row, per, currency, self.rates) for row in wanted])
        kept = tuple(_cheapest_of_each(amounts)) if cheapest_only else tuple(amounts)
        return Shown(kept, tuple(_cheapest(kept)), len(self.rows) - len(wanted), len(wanted) - len(kept))


def board_of(answer: Answer) -> Board | None:
    """The board of an answer that looked up two different price rows or more; None for any other.

    A rate that the question states (汇率按 7.2) goes before the newest of the rate table. Raises ValueError for a row
    that is none.
    """
    rows = rows_of(answer.calls)
    return Board(rows, _rates(answer)) if len(rows) > 1 else None


def _rates(answer: Answer) -> Rates:
    known = {rate.currency for rate in load_catalog().rates}
    newest = (rate for code in sorted(known) if (rate := load_catalog().rate(code)))
    rates = {
        rate.currency: DatedRate(rate.currency, rate.units_per_usd, str(rate.year), rate.source) for rate in newest
    }
    if own := agreed_rate(answer.question):
        rates["CNY"] = DatedRate("CNY", own, "", "")
    return rates


def _in_order(amounts: Sequence[PerGpu]) -> list[PerGpu]:
    """By currency in the order of the rows; in each the cheapest first, and slices behind whole cards."""
    groups = list(dict.fromkeys(a.currency for a in amounts))
    return sorted(amounts, key=lambda a: (groups.index(a.currency), a.row.is_slice, a.exact))


def _cheapest_of_each(amounts: Sequence[PerGpu]) -> Iterator[PerGpu]:
    """Of amounts in order the first of each provider and card, whatever its form; slices and currencies apart."""
    seen = set[tuple[str, str, str, object]]()
    for a in amounts:
        key = (a.currency, a.row.provider, a.row.family, a.row.share)
        if key not in seen:
            seen.add(key)
            yield a


def _cheapest(amounts: Sequence[PerGpu]) -> Iterator[int]:
    """The places of the least whole-card amount of each currency; equal ones all, and none where one row stands alone."""
    least: dict[str, Fraction] = {}
    for a in amounts:
        if not a.row.is_slice:
            least[a.currency] = min(a.exact, least.get(a.currency, a.exact))
    if len(amounts) > 1:
        yield from (i for i, a in enumerate(amounts) if not a.row.is_slice and a.exact == least[a.currency])
